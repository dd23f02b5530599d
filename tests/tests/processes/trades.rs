//! R43: processes that run different kinds on one key.

use warp_runtime::prelude::*;
use warp_tests::processes::{Carry, HAULS, Haul, Judge, Office, Outcome, Shift, Trade};

use crate::{LEASE, setting};

in_each_place! {
    processes_of_different_trades_share_a_key,
}

/// Each can run every second job only. They take turns in the order of the line, neither starves, and neither asks again and again for what
/// only the other can do.
#[expect(clippy::print_stdout, reason = "shown with `--nocapture`")]
async fn processes_of_different_trades_share_a_key(office: &Office) -> Outcome {
    let pairs = setting("WARP_TEST_JOBS", 400)? / 10;
    let begin = |process: &str, trade| {
        let shift = office.shift(process, "default", LEASE);
        office.begin(&Shift { trade, ..shift })
    };
    for limit in [1, 2] {
        let notes = office.notebook.read().len();
        let ended = office.ended().await?;
        let mut ids = Vec::new();
        for _ in 0..pairs {
            let key = || JobParameters::new().with_semaphore(HAULS, limit);
            ids.push(office.publisher.enqueue_with(Haul, key()).await?);
            ids.push(office.publisher.enqueue_with(Carry, key()).await?);
        }
        let processes = [("hauler", Trade::Hauls), ("carrier", Trade::Carries)]
            .map(|(name, trade)| begin(name, trade));
        let all = ended + ids.len() as u64;
        office
            .until(async || Ok(office.ended().await? >= all))
            .await?;
        for process in processes {
            let name = process.name.clone();
            let costs = process.stop().await;
            println!("{name} at a limit of {limit}: {costs:?}");
            let each = costs.statements / u64::from(pairs);
            assert!(each <= 40, "{name}: {each} statements for each job");
        }
        let judge = Judge::new(&office.notebook.read()[notes..]);
        assert_eq!(judge.most_at_once(HAULS), limit as usize);
        // What both have in line they take by turns; what one of them has not looked at yet it may miss.
        assert!(longest_run(&judge) <= 40, "{:?}", judge.tokens.get(HAULS));
    }
    Ok(())
}

/// The most starts in a row of one process.
fn longest_run(judge: &Judge) -> usize {
    let mut tokens = judge.tokens.get(HAULS).cloned().unwrap_or_default();
    tokens.sort_unstable();
    let processes: Vec<_> = tokens.iter().map(|token| &judge.processes[token]).collect();
    let runs = processes.chunk_by(|one, next| one == next);
    runs.map(<[_]>::len).max().unwrap_or(0)
}
