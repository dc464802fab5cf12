drop table mail_counts;
