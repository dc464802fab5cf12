//! Chances of the members of a list to be drawn, and how many buckets that takes.

use super::*;

const PAGE: Rows = Rows { limit: 21, offset: 0 };

/// Draws from these members; `others` are not in the index.
fn drawn(members: &[i64], others: &[i64], rows: Rows, seed: u64) -> Option<Vec<i64>> {
    let mut sample = Sample { random: fastrand::Rng::with_seed(seed), ..Sample::new(rows, others) };
    while let Some(buckets) = sample.buckets() {
        let is_read = |id: &i64| buckets.binary_search(&(id % BUCKETS)).is_ok();
        sample.take(members.iter().copied().filter(is_read).collect());
    }
    sample.ids()
}

/// Twelve thousand ids: half of them alone in a bucket, half of them in pairs.
fn alone_and_in_pairs() -> Vec<i64> {
    let alone = 0..6_000;
    let pairs = (10_000..13_000).flat_map(|id| [id, id + 3 * BUCKETS]);
    alone.chain(pairs).collect()
}

#[test]
fn a_page_has_different_members() {
    let members = alone_and_in_pairs();
    let ids = drawn(&members, &[], PAGE, 1).expect("a page");
    let different: HashSet<i64> = ids.iter().copied().collect();
    assert_eq!((ids.len(), different.len()), (21, 21));
    assert!(different.is_subset(&members.iter().copied().collect()));
    assert_ne!(drawn(&members, &[], Rows { limit: 21, offset: 400 }, 2), Some(ids));
}

#[test]
fn each_member_has_the_same_chance() {
    let (members, drafts) = (alone_and_in_pairs(), (100_000..101_000).collect::<Vec<i64>>());
    let mut counts = [0_u32; 3];
    // Now and then the measured buckets have too few members.
    for id in (0..600).filter_map(|seed| drawn(&members, &drafts, PAGE, seed)).flatten() {
        let kind = if drafts.contains(&id) { 2 } else { usize::from(id >= 10_000) };
        counts[kind] += 1;
    }
    let drawn = f64::from(counts.iter().sum::<u32>());
    assert!(drawn > 550.0 * 21.0, "{drawn}");
    // Six standard deviations are 0.027.
    for (count, members) in counts.into_iter().zip([6_000.0, 6_000.0, 1_000.0]) {
        assert!((f64::from(count) / drawn - members / 13_000.0).abs() < 0.027, "{counts:?}");
    }
}

#[test]
fn each_member_has_the_same_chance_to_be_the_first() {
    let members = alone_and_in_pairs();
    let firsts = (0..2_000).filter_map(|seed| {
        let mut sample = Sample { random: fastrand::Rng::with_seed(seed), ..Sample::new(PAGE, &[]) };
        while let Some(buckets) = sample.buckets() {
            let is_read = |id: &i64| buckets.binary_search(&(id % BUCKETS)).is_ok();
            sample.take(members.iter().copied().filter(is_read).collect());
        }
        sample.drawn.into_iter().next()
    });
    let firsts: Vec<i64> = firsts.collect();
    let in_pairs = firsts.iter().filter(|id| **id >= 10_000).count();
    // Half of the members; six standard deviations are 134. If a bucket were the first one as often as any other, these
    // would be a third.
    assert!(
        firsts.len() > 1_800 && in_pairs.abs_diff(firsts.len() / 2) < 134,
        "{in_pairs} of {}",
        firsts.len()
    );
}

#[test]
fn each_member_of_a_dense_list_has_the_same_chance() {
    // Buckets with two members and as many with six.
    let by_bucket = |bucket: i64| -> Vec<i64> {
        (0..if bucket < BUCKETS / 2 { 6 } else { 2 }).map(|n| bucket + n * BUCKETS).collect()
    };
    let (mut crowded, mut firsts, mut all, mut pages) = (0_usize, 0_usize, 0_usize, 0_usize);
    for seed in 0..3_000 {
        let mut sample = Sample { random: fastrand::Rng::with_seed(seed), ..Sample::new(PAGE, &[]) };
        while let Some(buckets) = sample.buckets() {
            sample.take(buckets.into_iter().flat_map(by_bucket).collect());
        }
        let is_crowded = |id: &&i64| **id % BUCKETS < BUCKETS / 2;
        if matches!(sample.state, State::Complete) {
            pages += 1;
            all += sample.drawn.len();
            crowded += sample.drawn.iter().filter(is_crowded).count();
            firsts += sample.drawn.iter().take(1).filter(is_crowded).count();
        }
    }
    // Three quarters of the members are in crowded buckets. Six standard deviations are 650 and 142.
    assert!(pages > 2_900, "{pages}");
    assert!(crowded.abs_diff(all * 3 / 4) < 650, "{crowded} of {all}");
    assert!(firsts.abs_diff(pages * 3 / 4) < 142, "{firsts} of {pages}");
}

#[test]
fn sparse_lists_are_drawn_from_few_buckets() {
    let mut sample = Sample { random: fastrand::Rng::with_seed(1), ..Sample::new(PAGE, &[]) };
    let mut read = 0;
    while let Some(buckets) = sample.buckets() {
        read += buckets.len();
        sample.take(buckets.into_iter().filter(|bucket| *bucket < 10_000).collect());
    }
    // About 300; a second round in rare cases.
    assert!(sample.ids().is_some() && read < 600, "{read}");
}

#[test]
fn dense_lists_are_drawn_from_few_buckets() {
    let members: Vec<i64> = (0..300_000).collect();
    let mut sample = Sample::new(PAGE, &[]);
    let mut read = 0;
    while let Some(buckets) = sample.buckets() {
        let found: Vec<i64> = buckets
            .iter()
            .flat_map(|bucket| {
                members.iter().copied().skip(usize::try_from(*bucket).unwrap()).step_by(65_521)
            })
            .collect();
        read += found.len();
        sample.take(found);
    }
    assert!(sample.ids().is_some() && read < 700, "{read}");
}

#[test]
fn short_lists_far_pages_and_uneven_buckets_are_left_to_a_sort() {
    let members = alone_and_in_pairs();
    let short: Vec<i64> = (0..300).collect();
    let crowded: Vec<i64> = (0..700).flat_map(|id| (0..30).map(move |n| id + n * BUCKETS)).collect();
    let (far, last) = (Rows { limit: 21, offset: 9_000 }, Rows { limit: 21, offset: i64::MAX });
    for seed in 0..20 {
        assert_eq!(drawn(&members, &[], last, seed), None);
        assert_eq!(drawn(&short, &[], PAGE, seed), None);
        assert_eq!(drawn(&members, &[], far, seed), None);
        assert_eq!(drawn(&crowded, &[], PAGE, seed), None);
    }
}

#[test]
fn rows_come_in_the_order_of_their_ids() {
    assert_eq!(in_order_of(&[3, 1, 2], vec![1, 2, 3], |row| *row), [3, 1, 2]);
}
