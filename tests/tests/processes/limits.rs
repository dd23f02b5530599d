//! R50: limits over several processes.

use warp_runtime::prelude::*;
use warp_tests::processes::{HAULS, Haul, Judge, Office, Outcome};

use crate::{setting, start_four, stop};

in_each_place! {
    many_that_start_at_once_reach_a_limit_and_do_not_exceed_it,
}

/// S04: what is there before anybody starts, on a key that has no row yet. The limit is reached exactly.
async fn many_that_start_at_once_reach_a_limit_and_do_not_exceed_it(office: &Office) -> Outcome {
    let count = setting("WARP_TEST_JOBS", 400)? / 4;
    let mut ids = Vec::new();
    for limit in [5, 1] {
        let key = JobParameters::new().with_semaphore(HAULS, limit);
        let hauls = (0..count * limit / 5).map(|_| Haul);
        ids.extend(office.publisher.enqueue_all_with(hauls, key).await?);
        let notes = office.notebook.read().len();
        let processes = start_four(office);
        let all = ids.len() as u64;
        office
            .until(async || Ok(office.ended().await? >= all))
            .await?;
        stop(processes).await;
        let judge = Judge::new(&office.notebook.read()[notes..]);
        assert_eq!(judge.most_at_once(HAULS), limit as usize);
    }
    let judge = office.is_in_order(&ids, &[]).await?;
    assert!(judge.runs.values().all(|&runs| runs == 1));
    Ok(())
}
