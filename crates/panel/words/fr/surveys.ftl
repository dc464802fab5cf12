# Questionnaires, questions et réponses.

action-response-deleted = Réponse supprimée
nav-surveys = Questionnaires

# La liste.
survey-closed = Fermé
survey-new = Nouveau questionnaire
survey-of-component = Questionnaires du composant
survey-of-meeting = Formulaire d’une rencontre
survey-one = Questionnaire
survey-open = Ouvert
survey-planned = Pas encore ouvert
survey-questions = Questions
survey-responses = Réponses
surveys-by-change = Dernière modification
surveys-filter = Filtrer les questionnaires
surveys-lede = Les questionnaires et les formulaires d’inscription des rencontres.
surveys-no-match = Aucun questionnaire ne correspond
surveys-none = Pas encore de questionnaire
surveys-search = Titre

# Un questionnaire.
survey-tab-edit = Titre et conditions
survey-tab-preview = Aperçu
survey-tab-questions = Questions
survey-tab-responses = Réponses
survey-tabs = Questionnaire
survey-dates-both = Ouvert du { $from } au { $to }.
survey-dates-from = Ouvert à partir du { $from }.
survey-dates-meeting = Le formulaire d’une rencontre n’a pas de dates.
survey-dates-none = Toujours ouvert.
survey-dates-to = Ouvert jusqu’au { $to }.

# Textes et dates.
problem-survey-dates = La fin doit être après le début.
problem-survey-locked = Le type ne peut pas changer : la question a des réponses.
problem-survey-long = Le texte est trop long.
problem-survey-many = Il y en a trop.
problem-survey-order = Une question ne peut pas précéder la question que sa condition nomme.
survey-component-hint = Un composant peut avoir plusieurs questionnaires.
survey-create = Créer le questionnaire
survey-created = Le questionnaire { $name } a été créé.
survey-created-next = Ajoutez maintenant ses questions.
survey-ends = Ferme
survey-new-lede = Un questionnaire appartient à un composant. On peut y répondre quand le composant est publié.
survey-save = Enregistrer
survey-saved = { $name } est enregistré.
survey-starts = Ouvre
survey-texts = Textes
survey-tos = Conditions
survey-when = Dates
survey-when-hint = Heures de { $zone }. Sans dates, le questionnaire est toujours ouvert.
survey-who-meeting = Seules les personnes avec un compte peuvent répondre, une fois chacune.
survey-who-survey = Les personnes avec un compte peuvent répondre une fois ; les réponses sans compte sont aussi acceptées.

# Questions.
question-add = Ajouter une question
question-at-most = { $count ->
    [one] au plus 1 choix
   *[other] au plus { $count } choix
}
question-at-most-characters = { $count ->
    [one] au plus 1 caractère
   *[other] au plus { $count } caractères
}
question-body = Question
question-close = Fermer
question-conditions-count = { $count ->
    [one] 1 condition
   *[other] { $count } conditions
}
question-create = Ajouter la question { $number }
question-created = La question « { $title } » a été ajoutée.
question-delete = Supprimer la question
question-delete-answers = { $count ->
    [0] La question n’a pas de réponses
    [one] 1 réponse à la question est supprimée
   *[other] { $number } réponses à la question sont supprimées
}
question-delete-conditions = { $count ->
    [0] Aucune condition ne nomme la question
    [one] 1 condition d’une autre question est supprimée
   *[other] { $count } conditions d’autres questions sont supprimées
}
question-delete-link = Supprimer la question { $number }…
question-delete-options = { $count ->
    [one] 1 option est supprimée
   *[other] { $count } options sont supprimées
}
question-delete-shown = { $count ->
    [one] La question { $questions } peut alors être affichée à plus de personnes
   *[other] Les questions { $questions } peuvent alors être affichées à plus de personnes
}
question-delete-stays = Les autres questions et leurs réponses restent. Les envois sans autre réponse sont supprimés.
question-delete-title = Supprimer la question { $number } ?
question-deleted = La question « { $title } » a été supprimée.
question-description = Explication
question-displayed = Affichage
question-displayed-hint = Sans conditions : toujours. S’il y a des conditions marquées « Nécessaire », toutes doivent être remplies ; sinon une suffit.
question-files = Fichiers
question-is-mandatory = obligatoire
question-layout = mise en page, sans réponse
question-long-answer = Réponse longue
question-mandatory = Obligatoire
question-mandatory-hint = Ne compte que si la question est affichée.
question-matrix-multiple = Matrice, plusieurs choix par ligne
question-matrix-single = Matrice, un choix par ligne
question-max-characters = Nombre maximal de caractères
question-max-characters-hint = Vide : sans limite.
question-max-choices = Nombre maximal de choix
question-max-choices-hint = Vide : autant qu’il y en a.
question-more-rows = Enregistrer et ajouter des lignes
question-moved = « { $title } » a été déplacée.
question-multiple-option = Plusieurs choix
question-new-type = Type de la nouvelle question
question-number = Question { $number }
question-option-in = Option { $id } en { $language }
question-option-loss = { $count ->
    [one] La condition de la question { $questions } perd cette option et n’est alors jamais remplie.
   *[other] Les conditions des questions { $questions } perdent cette option et ne sont alors jamais remplies.
}
question-options = Options
question-options-count = { $count ->
    [one] 1 option
   *[other] { $count } options
}
question-options-hint = Dans l’ordre de leurs numéros. Les nouvelles lignes vides ne sont pas enregistrées.
question-part-new = nouvelle
question-place = Place
question-remove = Retirer
question-row-in = Ligne { $id } en { $language }
question-row-place = Place de la ligne { $id }
question-rows = Lignes
question-rows-count = { $count ->
    [one] 1 ligne
   *[other] { $count } lignes
}
question-rows-hint = Dans l’ordre de leurs places. Les nouvelles lignes vides ne sont pas enregistrées.
question-save = Enregistrer la question { $number }
question-saved = La question « { $title } » est enregistrée.
question-separator = Séparateur (mise en page)
question-short-answer = Réponse courte
question-single-option = Un choix
question-sorting = Mettre dans l’ordre
question-stays = « { $title } » reste à sa place.
question-title-and-description = Titre et texte (mise en page)
question-type = Type
question-type-hint = Après un autre choix, enregistrez pour voir ses champs.
question-type-locked = Fixe : la question a des réponses.
question-up = Monter
question-down = Descendre
questions-none = Pas encore de questions
questions-none-lede = Choisissez un type ci-dessous et ajoutez la première.

# Conditions.
condition-always = Toujours afficher
condition-answered = a une réponse
condition-equal = est égale à
condition-match = contient le texte
condition-more = Enregistrer et ajouter une condition
condition-needed = Nécessaire
condition-not-answered = n’a pas de réponse
condition-not-equal = est différente de
condition-option = Option
condition-question = Si la question
condition-type = Comparaison
condition-value = Texte en { $language }

# Réponses.
response-anonymous = sans compte
response-answered = Répondues
response-answers = Réponses
response-by = Personne
response-delete = Supprimer la réponse
response-delete-again = Une personne avec un compte peut répondre à nouveau
response-delete-answers = { $count ->
    [0] L’envoi n’a pas de réponses
    [one] 1 réponse est supprimée
   *[other] { $count } réponses sont supprimées
}
response-delete-files = Les fichiers de l’envoi sont supprimés
response-delete-link = Supprimer…
response-delete-stays = Les questions et tous les autres envois restent.
response-deleted = La réponse { $id } a été supprimée.
response-displayed = Questions affichées
response-not-displayed = pas affichée
response-nothing = sans réponse
response-one = Réponse
response-time = Envoyée
response-title = Réponse { $id }
responses-export-csv = Exporter en CSV
responses-export-ndjson = Exporter en NDJSON
responses-none = Pas encore de réponses
responses-none-lede = Les réponses apparaissent ici dès leur envoi.

# Aperçu.
survey-preview-condition = { $count ->
    [one] Affichée sous 1 condition.
   *[other] Affichée sous { $count } conditions.
}
survey-preview-show = Afficher
