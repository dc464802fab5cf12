//! Filters, order, pages and neighbours.

use super::{NOW, World, draft, everything, ids, in_component, published};
use crate::{HiddenProposals, PROPOSAL_FIELDS, Proposal, ProposalNeighbours, ProposalQuery};
use civitas_kernel::conformance::read_pages;
use civitas_kernel::filter::{Comparison, FilterCondition, read_filters};
use civitas_kernel::testing::{raw_filter, text};
use civitas_kernel::{
    Direction, Error, LocationFilter, Order, PageRequest, ProposalId, ReadContext, Result, SpaceKind,
};
use serde_json::json;
use time::Duration;

impl World<'_> {
    async fn ideas_where(
        &self,
        read_context: ReadContext,
        key: &str,
        value: &str,
    ) -> Result<Vec<ProposalId>> {
        let filters = read_filters(PROPOSAL_FIELDS, &raw_filter(key, value))?;
        self.list(read_context, &ProposalQuery { filters, ..everything(self.ideas, Direction::Ascending) })
            .await
    }
}

/// By public state (a proposal without one has the empty token), id and extended data.
pub async fn filters_by_state_and_number(world: World<'_>) -> Result<()> {
    let state = async |token: &str| {
        let found = world.states.find_by_token(world.mine, world.ideas, token).await?;
        Ok::<_, Error>(found.ok_or(Error::NotFound)?.0)
    };
    let (accepted, rejected) = (state("accepted").await?, state("rejected").await?);
    let plain = published(world.ideas);
    let answered = |state, public: bool| Proposal {
        state: Some(state),
        state_published_at: public.then_some(NOW),
        ..plain.clone()
    };
    let marked = json!({"key": {"is": "ÉTÉ 50%"}}).as_object().cloned().unwrap_or_default();
    let none = world.add(&Proposal { extended_data: marked.into(), ..plain.clone() }).await?;
    let yes = world.add(&answered(accepted, true)).await?;
    let no = world.add(&answered(rejected, true)).await?;
    let secret = world.add(&answered(rejected, false)).await?;
    let gone = world.add(&Proposal { withdrawn_at: Some(NOW), ..answered(accepted, true) }).await?;
    for (key, value, expected) in [
        ("state", "accepted", vec![yes]),
        ("state_not_eq", "rejected", vec![none, yes, secret, gone]),
        ("state_not_in", "[]accepted,withdrawn", vec![none, no, secret]),
        ("state_in", "[]withdrawn,rejected", vec![no, gone]),
        ("state_blank", "true", vec![none, secret]),
        ("state_present", "true", vec![yes, no, gone]),
        ("state_start", "RE", vec![no]),
        ("state_matches", "%e_ted", vec![yes, no]),
        ("id_in", &format!("[]{yes},{no}"), vec![yes, no]),
        ("id_not_eq", &none.to_string(), vec![yes, no, secret, gone]),
        ("id_gt", &no.to_string(), vec![secret, gone]),
        ("extended_data_cont", r#""Key":{"IS":"été 50%"}"#, vec![none]),
        ("extended_data_cont", "5_%", vec![]),
    ] {
        assert_eq!(
            world.ideas_where(world.read_context_of(world.nora), key, value).await?,
            expected,
            "{key} {value}"
        );
    }
    Ok(())
}

/// By the weight of the reader's vote, as number and as text; any such condition leaves drafts out.
pub async fn filters_by_votes_and_leaves_drafts_out(world: World<'_>) -> Result<()> {
    let mut all = Vec::new();
    for weight in [None, Some(0), Some(2), Some(10)] {
        let id = world.add(&published(world.ideas)).await?;
        if let Some(weight) = weight {
            world.vote(id, world.nora, weight).await?;
        }
        world.vote(id, world.otto, 2).await?;
        all.push(id);
    }
    let own = world.add(&draft(world.ideas, world.nora)).await?;
    let nora = world.read_context_of(world.nora);
    for (key, value, expected) in [
        ("voted_weight", "2", vec![all[2]]),
        ("voted_weight_not_eq", "2", vec![all[1], all[3]]),
        ("voted_weight_in", "[]0,10", vec![all[1], all[3]]),
        ("voted_weight_not_in", "[]0,2", vec![all[3]]),
        ("voted_weight_gt", "2", vec![all[3]]),
        ("voted_weight_lt", "2", vec![all[1]]),
        ("voted_weight_start", "1", vec![all[3]]),
        ("voted_weight_matches", "_", vec![all[1], all[2]]),
        ("voted_weight_blank", "true", vec![all[0]]),
        ("voted_weight_present", "false", vec![all[0]]),
        ("voted_weight_present", "true", all[1..].to_vec()),
        ("voted_weight_eq", "", [all.clone(), vec![own]].concat()),
    ] {
        assert_eq!(world.ideas_where(nora, key, value).await?, expected, "{key} {value}");
    }
    Ok(())
}

/// Proposals at equal and different times and drafts of two users, in the order they were added.
async fn crowd(world: &World<'_>) -> Result<Vec<(ProposalId, Proposal)>> {
    let mut all = Vec::new();
    for (i, hours) in
        [Some(5), Some(1), None, Some(3), Some(1), Some(5), None, Some(1), Some(9)].iter().enumerate()
    {
        let component = if i % 2 == 0 { world.ideas } else { world.wishes };
        let proposal = match hours {
            Some(hours) => {
                Proposal { published_at: Some(NOW + Duration::hours(*hours)), ..published(component) }
            }
            // One draft in each component, which Otto joined.
            None => Proposal {
                authors: vec![if i == 2 { world.nora } else { world.admin }, world.otto],
                ..Proposal::draft(component, NOW)
            },
        };
        all.push((world.add(&proposal).await?, proposal));
    }
    // Invisible proposals must not appear in the list.
    let hidden_at = Some(NOW);
    world.add(&Proposal { hidden_at, ..published(world.ideas) }).await?;
    world.add(&Proposal { deleted_at: hidden_at, ..published(world.wishes) }).await?;
    world.add(&published(world.unpublished)).await?;
    world.add(&Proposal::draft(world.ideas, NOW)).await?;
    Ok(all)
}

/// The ids in the order of contract 06 §1.5: by time, those without a time last or first, then by id.
fn in_order(mut all: Vec<(ProposalId, Proposal)>, direction: Direction) -> Vec<ProposalId> {
    all.sort_by(|(a, x), (b, y)| {
        let times = match (x.published_at, y.published_at) {
            (Some(x), Some(y)) => x.cmp(&y),
            (x, y) => y.is_some().cmp(&x.is_some()),
        };
        let times = if direction == Direction::Ascending { times } else { times.reverse() };
        times.then(a.cmp(b))
    });
    all.into_iter().map(|(id, _)| id).collect()
}

/// Both directions, for readers with and without drafts; pages of any length have each once.
pub async fn lists_in_order_without_overlap(world: World<'_>) -> Result<()> {
    let all = crowd(&world).await?;
    for (read_context, has_drafts) in
        [(world.read_context_of(world.otto), true), (world.services()[1], false)]
    {
        let visible: Vec<_> =
            all.iter().filter(|(_, p)| has_drafts || p.published_at.is_some()).cloned().collect();
        for direction in [Direction::Ascending, Direction::Descending] {
            let query = ProposalQuery { order: Order::Column(direction), ..ProposalQuery::default() };
            let expected = in_order(visible.clone(), direction);
            for per_page in [1, 4, 100] {
                let list = async |page| world.proposals.list(read_context, &query, page).await;
                let walked = ids(&read_pages(per_page, list).await?);
                assert_eq!(walked, expected, "{direction:?} by {per_page}");
            }
        }
        let random = ProposalQuery { order: Order::Random, ..ProposalQuery::default() };
        let mut shuffled = world.list(read_context, &random).await?;
        shuffled.sort_unstable();
        let mut expected = in_order(visible, Direction::Ascending);
        expected.sort_unstable();
        assert_eq!(shuffled, expected);
    }
    Ok(())
}

/// Following `next` from the first gives the whole list, and `prev` from the last gives it in reverse.
pub async fn neighbours_are_those_of_the_list(world: World<'_>) -> Result<()> {
    crowd(&world).await?;
    let parts = [LocationFilter::default(), in_component(world.ideas), in_component(world.wishes)];
    for read_context in
        [world.read_context_of(world.otto), world.read_context_of(world.nora), world.services()[1]]
    {
        for part in parts {
            for direction in [Direction::Ascending, Direction::Descending] {
                let query =
                    ProposalQuery { within: part, filters: Vec::new(), order: Order::Column(direction) };
                let list = world.list(read_context, &query).await?;
                for (i, id) in list.iter().enumerate() {
                    let expected = ProposalNeighbours {
                        next: list.get(i + 1).copied(),
                        prev: i.checked_sub(1).map(|before| list[before]),
                    };
                    let found = world.neighbours(read_context, &query, *id).await?;
                    assert_eq!(found, expected, "{id} in {list:?}, {query:?}");
                }
            }
        }
    }
    let random = ProposalQuery { order: Order::Random, ..ProposalQuery::default() };
    for id in world.list(world.services()[1], &random).await? {
        let ProposalNeighbours { next, prev } = world.neighbours(world.services()[1], &random, id).await?;
        assert!(next.is_some_and(|next| next != id) && prev.is_none(), "any other, and none before");
    }
    Ok(())
}

/// A proposal outside of the part or the filters has no neighbours; the neighbours of others match the filters.
pub async fn neighbours_stay_inside_and_satisfy_the_filters(world: World<'_>) -> Result<()> {
    let mut all = Vec::new();
    for hours in 0..4 {
        let published_at = Some(NOW + Duration::hours(hours));
        let component = if hours == 3 { world.wishes } else { world.ideas };
        all.push(world.add(&Proposal { published_at, ..published(component) }).await?);
    }
    let own = world.add(&draft(world.ideas, world.nora)).await?;
    world.vote(all[0], world.nora, 1).await?;
    world.vote(all[2], world.nora, 1).await?;
    let nora = world.read_context_of(world.nora);
    let voted = read_filters(PROPOSAL_FIELDS, &raw_filter("voted_weight", "1"))?;
    let filtered = ProposalQuery { filters: voted, ..ProposalQuery::default() };
    let of = async |query: &ProposalQuery, id| world.neighbours(nora, query, id).await;
    let beside = |next: Option<ProposalId>, prev: Option<ProposalId>| ProposalNeighbours { next, prev };
    assert_eq!(of(&filtered, all[0]).await?, beside(Some(all[2]), None));
    assert_eq!(of(&filtered, all[2]).await?, beside(None, Some(all[0])));
    assert_eq!(of(&filtered, all[1]).await?, ProposalNeighbours::default());
    assert_eq!(of(&filtered, own).await?, ProposalNeighbours::default());
    let ideas = everything(world.ideas, Direction::Ascending);
    assert_eq!(of(&ideas, all[3]).await?, ProposalNeighbours::default());
    assert_eq!(of(&ideas, all[2]).await?, beside(Some(own), Some(all[1])));
    assert_eq!(of(&ideas, own).await?, beside(None, Some(all[2])));
    let assemblies = LocationFilter { space_kind: Some(SpaceKind::Assemblies), ..LocationFilter::default() };
    let nowhere = ProposalQuery { within: assemblies, ..ProposalQuery::default() };
    assert_eq!(of(&nowhere, all[0]).await?, ProposalNeighbours::default());
    Ok(())
}

/// Hidden proposals and drafts are listed for administrators in the order in which they were hidden.
pub async fn lists_hidden_proposals(world: World<'_>) -> Result<()> {
    let hidden = |proposal: Proposal, seconds| Proposal {
        hidden_at: Some(NOW + Duration::seconds(seconds)),
        ..proposal
    };
    let titled = Proposal { title: text("Große Bäume"), ..published(world.ideas) };
    let last = world.add(&hidden(titled, 3)).await?;
    let first = world.add(&hidden(draft(world.ideas, world.nora), 1)).await?;
    let elsewhere = world.add(&hidden(published(world.wishes), 2)).await?;
    world.add(&published(world.ideas)).await?;
    world.add(&Proposal { deleted_at: Some(NOW), ..hidden(published(world.ideas), 4) }).await?;
    let listed = async |organization, component, direction, page| {
        let query = HiddenProposals { component, state: None, words: None, direction };
        let page = world.proposals.hidden(organization, &query, page).await?;
        Ok::<_, Error>((page.items.iter().map(|found| found.id).collect::<Vec<_>>(), page.has_more))
    };
    let (all, newest, oldest) = (PageRequest::new(1, 100), Direction::Descending, Direction::Ascending);
    assert_eq!(listed(world.mine, None, newest, all).await?, (vec![last, elsewhere, first], false));
    let second = PageRequest::new(2, 1);
    assert_eq!(listed(world.mine, None, newest, second).await?, (vec![elsewhere], true));
    assert_eq!(listed(world.mine, Some(world.ideas), oldest, all).await?.0, [first, last]);
    assert_eq!(listed(world.other, None, newest, all).await?.0, []);
    for (blank, words, expected) in [
        (true, None, vec![last, first]),
        (false, None, vec![]),
        (true, FilterCondition::words("GROSSE bau"), vec![last]),
        (true, FilterCondition::words("klein"), vec![]),
    ] {
        let state = Some(FilterCondition::Text(Comparison::Blank(blank)));
        let query = HiddenProposals { component: Some(world.ideas), state, words, direction: newest };
        let page = world.proposals.hidden(world.mine, &query, all).await?;
        assert_eq!(page.items.iter().map(|found| found.id).collect::<Vec<_>>(), expected);
    }
    Ok(())
}
