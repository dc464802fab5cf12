drop index questionnaires_by_creation;
drop index responses_in_order;
