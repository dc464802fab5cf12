drop index users_by_written_nickname;
drop index users_general_admins;
drop index roles_in_order_of_kind;
drop index roles_in_order_of_class;
drop index roles_in_order_of_resource;
drop index roles_in_order_of_user;
drop index roles_in_order;
