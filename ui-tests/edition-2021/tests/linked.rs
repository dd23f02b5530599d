//! S21: a crate that is named is linked, with all its declarations.

use warp_ui_tests_edition_2021 as _;

#[test]
fn a_crate_that_is_named_is_linked() {
    jobs::registry().expect(["linked"]).expect("linked");
    let json = jobs::registry().to_json();
    assert!(
        json.contains("warp_ui_tests_edition_2021::Linked"),
        "{json}"
    );
    jobs::assert_policies!();
}
