drop index entries_counted;
drop index meetings_counted;
drop index posts_counted;
