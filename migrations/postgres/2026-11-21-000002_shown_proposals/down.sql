drop index proposals_counted;
drop index proposals_shown;
