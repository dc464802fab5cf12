drop index posts_sampled_in_component;
drop index posts_sampled;
drop index meetings_sampled_in_component;
drop index meetings_sampled;
drop index proposals_sampled_in_component;
drop index proposals_sampled;
