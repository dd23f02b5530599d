//! R7
use warp_runtime::prelude::*;
use warp_ui_tests::on_contract;

#[derive(Serialize, Deserialize, Job)]
struct Plain;

#[derive(Serialize, Deserialize, Job)]
#[allow(non_camel_case_types, reason = "a name that needs its raw form")]
enum r#type {
    One,
}

#[derive(Serialize, Deserialize, Job)]
#[job(name = "send-email", alias = "SendEmail")]
#[job(alias = "mail.send")]
struct SendEmail {
    to: String,
}

fn main() {
    assert_eq!(Plain::NAME, "Plain");
    assert!(Plain::ALIASES.is_empty());
    assert_eq!(r#type::NAME, "type");
    let _ = r#type::One;
    assert_eq!(SendEmail::NAME, "send-email");
    assert_eq!(SendEmail::ALIASES, ["SendEmail", "mail.send"]);
    let _ = SendEmail { to: String::new() }.to;
    on_contract::<SendEmail>();
}
