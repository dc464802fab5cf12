drop table posts;
