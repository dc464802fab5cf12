# Pages of the content of an organization.
column-id = Id
column-kind = Type
column-title = Titre
published = Publié
not-published = Non publié
publish = Publier
unpublish = Dépublier
publish-back = Pour annuler, dépubliez-le.
unpublish-back = Les administrateurs le voient encore. Pour annuler, publiez-le.
untitled = Sans titre
visibility = Visibilité
visibility-public = Public
visibility-public-hint = Tout le monde le voit et peut participer.
visibility-transparent = Transparent
visibility-transparent-hint = Tout le monde le voit, seuls les membres participent. Pour les assemblées.
visibility-private = Privé
visibility-private-hint = Seuls les membres le voient et participent. Pour les processus et les assemblées.

# Spaces.
spaces = Espaces
spaces-caption = Espaces de { $organization }
spaces-filter = Filtrer les espaces
spaces-lede = Processus, assemblées, conférences et initiatives. Les plus récents d’abord.
spaces-none = Pas encore d’espace
spaces-no-match = Aucun espace ne correspond
spaces-pages = Pages d’espaces
spaces-search = Titre ou slug
space-participatory-processes = Processus
space-assemblies = Assemblée
space-conferences = Conférence
space-initiatives = Initiative
space-new = Nouvel espace
space-new-lede = L’espace n’est d’abord pas publié.
space-create = Créer l’espace
space-created = Espace créé : { $name }.
space-created-next = Il n’est pas encore publié. Ajoutez des composants, puis publiez-le.
space-kind-hint = Il ne peut pas être modifié ensuite. Seuls les processus ont des étapes.
space-identity = Textes
space-subtitle = Sous-titre
space-short-description = Description courte
space-slug = Slug
space-slug-hint = Le nom dans les filtres de l’interface. Unique pour chaque type.
space-who = Qui le voit
space-who-hint = Tant que l’espace n’est pas publié, les participants ne le voient pas.
space-tabs = Espace
space-tab-content = Étapes et composants
space-tab-edit = Textes et visibilité
space-lede = { $kind }, id { $id }
space-save = Enregistrer l’espace
space-saved = Espace enregistré : { $name }.
space-published = Espace publié : { $name }.
space-unpublished = Espace dépublié : { $name }.
problem-slug-of-initiative = Laissez ce champ vide : le slug d’une initiative vient de son numéro.
problem-visibility = Les espaces de ce type ne peuvent pas avoir cette visibilité.

# Steps of processes.
step = Étape
steps = Étapes
steps-none = Pas encore d’étape
steps-none-lede = Les étapes changent ce qui est possible dans les composants du processus.
steps-dates-hint = Les dates sont indicatives : une étape devient active quand quelqu’un l’active.
step-add = Ajouter une étape
step-place = Étape { $place }
step-active = Étape active
step-active-now = active
step-is-active = Active
step-is-past = Passée
step-is-coming = À venir
step-none-active = aucune active
step-from = dès le { $date }
step-until = jusqu’au { $date }
step-undated = sans dates
step-new = Nouvelle étape
step-new-lede = L’étape n’est d’abord pas active.
step-create = Créer l’étape
step-created = Étape créée : { $name }.
step-save = Enregistrer l’étape
step-saved = Étape enregistrée : { $name }.
step-order = Place parmi les étapes
step-order-hint = 1 : la première
step-dates = Dates
step-starts = Début
step-ends = Fin
problem-time = Saisissez une date avec une heure.
problem-step-active = L’étape active ne peut pas être supprimée. Activez-en d’abord une autre.
step-activate = Activer…
step-activate-button = Activer l’étape
step-activate-title = Activer { $name } ?
step-activate-ends = { $name } n’est plus l’étape active
step-activate-component = { $name } : { $changes }
step-activate-nothing = Aucun composant n’a d’autres paramètres dans cette étape
step-activate-receivers = { $count ->
    [one] { $count } inscription de webhook reçoit l’événement
   *[other] { $count } inscriptions de webhook reçoivent l’événement
}
step-activate-stays = Les propositions, les votes et toutes les autres fiches restent tels quels. Une autre étape peut être activée ensuite ; c’est un nouvel événement.
step-activated = Étape active : { $name }.
step-activated-text = { $components }, { $registrations }.
components-changed = { $count ->
    [one] Les paramètres de { $count } composant ont changé
   *[other] Les paramètres de { $count } composants ont changé
}
registrations-receive = { $count ->
    [one] { $count } inscription de webhook reçoit l’événement
   *[other] { $count } inscriptions de webhook reçoivent l’événement
}
step-already-active = { $name } est déjà l’étape active. Rien n’a été modifié.
step-delete-lede = Les paramètres des composants pour cette étape disparaissent avec elle.
step-delete-effect = L’étape est retirée du processus
step-delete-components = { $count ->
    [one] { $count } composant perd ses paramètres pour l’étape
   *[other] { $count } composants perdent leurs paramètres pour l’étape
}
step-delete-stays = L’étape n’est pas active : rien ne change pour les participants.
step-delete-button = Supprimer l’étape
step-deleted = Étape supprimée : { $name }.

# Components.
components = Composants
components-caption = Composants de { $space } dans leur ordre
components-none = Pas encore de composant
components-none-lede = Un composant contient des propositions, des rencontres, des articles ou d’autres fiches de l’espace.
component-add = Ajouter un composant
component-new-type = Type du nouveau composant
component-type = Type
component-id = id { $id }
component-records = Fiches
component-in-step = Dans l’étape { $step }
component-now = Maintenant
component-same = identique dans toutes les étapes
component-defaults = paramètres par défaut
component-pages = Page
component-proposals = Propositions
component-meetings = Rencontres
component-budgets = Budgets
component-surveys = Enquête
component-accountability = Suivi des résultats
component-debates = Débats
component-blogs = Blog
component-awesome-map = Carte
component-awesome-iframe = Cadre
component-new = Nouveau composant : { $kind }
component-new-lede = Le composant n’est d’abord pas publié.
component-create = Créer le composant
component-created = Composant créé : { $name }.
component-created-next = Il n’est pas encore publié.
component-lede = Composant { $id }. Les paramètres enregistrés s’appliquent dès la prochaine requête.
component-published = Composant publié : { $name }.
component-unpublished = Composant dépublié : { $name }.
component-delete-lede = Le composant et ses fiches disparaissent aussitôt de l’interface.
component-delete-effect = Le composant disparaît aussitôt de l’interface
component-delete-records = { $count ->
    [one] { $count } fiche qu’il contient disparaît avec lui
   *[other] { $count } fiches qu’il contient disparaissent avec lui
}
component-delete-many-records = Plus de { $count } fiches qu’il contient disparaissent avec lui
component-delete-stays = L’espace et ses autres composants restent.
component-delete-name = Saisissez le nom du composant pour confirmer
component-delete-button = Supprimer le composant
component-deleted = Composant supprimé : { $name }.

# Settings of components.
component-section-name = Nom et annonce
component-section-phases = Ce qui est possible à chaque étape
component-section-phases-hint = La colonne de l’étape active s’applique maintenant. « Sans étape » s’applique tant qu’aucune étape n’est active.
component-section-writing = Rédiger des propositions
component-section-voting = Vote
component-section-registration = Inscription
component-section-other = Commentaires et ordre
component-setting = Paramètre
component-without-steps = Sans étape
setting-in-step = { $setting } – { $step }
setting-becomes = { $setting } → { $value }
setting-is-off = { $setting } : non
problem-setting = Saisissez 0 ou plus, ou choisissez une des valeurs proposées.
component-setting-scopes-enabled = Secteurs
component-setting-global-announcement = Annonce
component-setting-global-announcement-hint = Affichée au-dessus des fiches. Vide : aucune.
component-setting-default-registration-terms = Conditions d’inscription
component-setting-default-registration-terms-hint = Pour les rencontres sans conditions propres.
component-setting-comments-enabled = Commentaires
component-setting-comments-max-length = Commentaire le plus long
component-setting-comments-max-length-hint = En caractères. Vide : comme l’organisation
component-setting-registration-code-enabled = Codes d’inscription
component-setting-creation-enabled-for-participants = Les participants peuvent créer des rencontres
component-setting-creation-enabled-for-participants-hint = Les clients de l’interface le lisent.
component-setting-amendments-enabled = Amendements
component-setting-attachments-allowed = Pièces jointes
component-setting-default-sort-order = Ordre des propositions
component-setting-default-sort-order-default = Par défaut
component-setting-default-sort-order-random = Aléatoire
component-setting-default-sort-order-recent = Les plus récentes d’abord
component-setting-default-sort-order-most-voted = Le plus de votes
component-setting-default-sort-order-most-endorsed = Les plus soutenues
component-setting-default-sort-order-most-commented = Le plus de commentaires
component-setting-default-sort-order-most-followed = Les plus suivies
component-setting-default-sort-order-with-more-authors = Le plus d’auteurs
component-setting-default-sort-order-automatic = Automatique
component-setting-geocoding-enabled = Lieux sur une carte
component-setting-minimum-votes-per-user = Votes nécessaires avant de compter
component-setting-minimum-votes-per-user-hint = 0 : chacun compte aussitôt
component-setting-official-proposals-enabled = Propositions officielles de l’organisation
component-setting-participatory-texts-enabled = Textes participatifs
component-setting-proposal-edit-time = Les auteurs peuvent modifier
component-setting-proposal-edit-time-limited = Quelques minutes après la publication
component-setting-proposal-edit-time-infinite = À tout moment
component-setting-proposal-edit-before-minutes = Minutes pour modifier
component-setting-proposal-edit-before-minutes-hint = Après la publication, si le temps est limité
component-setting-proposal-limit = Propositions par personne
component-setting-proposal-limit-hint = 0 : sans limite
component-setting-proposal-length = Texte le plus long
component-setting-proposal-length-hint = En caractères
component-setting-resources-permissions-enabled = Autorisations par proposition
component-setting-threshold-per-proposal = Votes possibles pour une proposition
component-setting-threshold-per-proposal-hint = 0 : sans limite
component-setting-vote-limit = Votes par personne
component-setting-vote-limit-hint = 0 : sans limite
component-setting-awesome-voting-manifest = Type de vote
component-setting-awesome-voting-manifest-none = Un vote par proposition
component-setting-awesome-voting-manifest-voting-cards = Cartes : rouge, jaune, verte
component-setting-voting-cards-show-abstain = L’abstention est possible
component-setting-voting-cards-show-modal-help = Expliquer les cartes avant le premier vote
component-setting-voting-cards-box-title = Titre des cartes
component-setting-voting-cards-instructions = Instructions des cartes
component-setting-can-accumulate-votes-beyond-threshold = Les votes au-delà sont acceptés
component-setting-votes-enabled = Les votes sont ouverts
component-setting-votes-enabled-hint = Les participants voient les votes et peuvent voter
component-setting-creation-enabled = Des propositions peuvent être publiées
component-setting-proposal-answering-enabled = Les propositions peuvent recevoir une réponse
component-setting-amendment-creation-enabled = Des amendements peuvent être rédigés
component-setting-amendment-reaction-enabled = Les amendements peuvent être acceptés
component-setting-amendment-promotion-enabled = Les amendements peuvent devenir des propositions
component-setting-endorsements-enabled = Soutiens
component-setting-votes-blocked = Les votes sont clos mais affichés
component-setting-votes-blocked-hint = Personne ne peut voter ni retirer un vote
component-setting-votes-enabled-by-status = Seules les propositions dans les états ci-dessous peuvent recevoir des votes
component-setting-votes-enabled-by-status-hint = Sans état ci-dessous, aucune ne peut recevoir de votes
component-setting-votes-enabled-states = États ouverts au vote
component-setting-votes-enabled-states-hint = Un identifiant par ligne : not_answered, evaluating, accepted, rejected, ou un état du composant
