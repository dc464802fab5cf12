# Start page.
attention = À traiter
attention-badge-failed = Échec
attention-badge-locked = Verrouillé
attention-badge-stopped = Arrêté
attention-badge-unknown = Inconnu
attention-badge-waiting = En attente
attention-look = Les consulter
attention-none = Rien à traiter. Vérifié le { $time }.
attention-unknown = Ce point n’a pas pu être vérifié
attention-disabled-registrations = { $count ->
    [one] { $count } enregistrement de webhook est désactivé
   *[other] { $count } enregistrements de webhooks sont désactivés
}
attention-disabled-registrations-text = Leurs destinataires sont en échec depuis plus de trois jours, ou ont répondu qu’ils n’existent plus. Leurs événements ne sont plus mis en file.
attention-paused-registrations = { $count ->
    [one] { $count } enregistrement de webhook est en pause
   *[other] { $count } enregistrements de webhooks sont en pause
}
attention-paused-registrations-text = Mis en pause par l’administration. Leurs envois attendent, au plus 30 jours.
attention-failed-jobs = { $count ->
    [one] { $count } tâche a échoué au cours des dernières 24 heures
   *[other] { $count } tâches ont échoué au cours des dernières 24 heures
}
attention-failed-jobs-text = Le client de chaque tâche y lit le motif.
attention-dead-deliveries = { $count ->
    [one] { $count } envoi a été abandonné
   *[other] { $count } envois ont été abandonnés
}
attention-dead-deliveries-text = Toutes les tentatives ont échoué. Ils peuvent être relancés.
attention-waiting-deliveries = { $count ->
    [one] { $count } envoi attend depuis plus d’une heure
   *[other] { $count } envois attendent depuis plus d’une heure
}
attention-waiting-deliveries-text = Leurs destinataires ne répondent pas, ou il y a plus d’envois que les exécuteurs ne peuvent en traiter.
attention-failed-mails = { $count ->
    [one] { $count } e-mail n’a pas encore pu être envoyé
   *[other] { $count } e-mails n’ont pas encore pu être envoyés
}
attention-failed-mails-text = De nouvelles tentatives suivent. Le journal contient les réponses du serveur de messagerie.
attention-pending-hosts = { $count ->
    [one] { $count } nouvel hôte n’est pas confirmé
   *[other] { $count } nouveaux hôtes ne sont pas confirmés
}
attention-pending-hosts-text = Les enregistrements DNS du nouvel hôte ne mènent pas encore ici. D’ici là, l’hôte actuel reste, et un nouvel hôte secondaire est inconnu.
attention-locked-people = { $count ->
    [one] { $count } compte d’administration d’une organisation est verrouillé
   *[other] { $count } comptes d’administration d’organisations sont verrouillés
}
attention-locked-people-text = Trop de connexions échouées. Le verrouillage prend fin de lui-même.
figures = Chiffres
figure-components = Composants
figure-jobs = Tâches, 24 heures
figure-proposals = Propositions
figure-spaces = Espaces
figure-votes = Votes
recent = Changements récents
recent-none = Rien n’a encore été modifié.
start-lede = { $count ->
    [one] { $date }. { $count } point demande votre attention.
   *[other] { $date }. { $count } points demandent votre attention.
}

# API clients.
client-card = Client
client-create = Créer le client
client-created-next = Rien n’est encore accordé : choisissez ses autorisations ci-dessous.
client-fixed = Le nom, l’organisation et les portées sont fixes. Pour d’autres portées, créez un nouveau client et révoquez celui-ci.
client-fixed-later = Fixe une fois le client créé.
client-get-token = Obtenir un jeton
client-get-token-hint = Pour le client lui-même
client-held = { $abilities ->
    [one] { $abilities } droit
   *[other] { $abilities } droits
} et { $events ->
    [one] { $events } événement
   *[other] { $events } événements
}
client-id = Identifiant du client
client-last-token = Dernier jeton
client-name-hint = Qui l’exploite et pour quoi, par exemple « Riverton mobile app ».
client-new = Nouveau client d’API
client-new-lede = Le secret est affiché sur la page suivante. Les autorisations s’y choisissent.
client-one = Client d’API
client-organization-hint = Détermine les portées proposées.
client-public-always = La portée public en fait toujours partie : espaces et composants.
client-revoke = Révoquer
client-scopes = Portées
client-scopes-content = Contenu
client-scopes-hint = Elles limitent ce que le client peut faire et ne peuvent pas être modifiées plus tard.
client-scopes-others = Personnes et programmes
client-secret = Secret du client
client-secret-and-revocation = Secret et révocation
client-secret-kept = Stocké sous forme de hachage, affiché une seule fois
client-secret-lede = Le renouvellement crée un nouveau secret ; l’ancien n’obtient alors plus de nouveaux jetons, ceux déjà émis restent valides. La révocation supprime le client avec ses jetons, ses autorisations et ses webhooks.
client-tab-details = Détails
client-tab-permissions = Autorisations
client-tab-webhooks = Webhooks
client-use = Utilisation
client-valid-tokens = Jetons valides actuellement
clients-caption = Clients d’API, du plus récent au plus ancien
clients-filter = Filtrer les clients d’API
clients-lede = Programmes qui utilisent l’interface. Chacun a un identifiant et un secret, appartient à une organisation et peut faire ce que ses portées et ses autorisations permettent.
clients-none = Aucun client d’API
clients-pages = Pages des clients d’API
clients-search = Nom ou identifiant du client
revoke-button = Révoquer le client
revoke-link = Révoquer le client…
revoke-name = Saisissez le nom du client pour confirmer
revoke-permissions = Autorisations retirées : { $held }
revoke-registrations = { $count ->
    [0] Aucun enregistrement de webhook n’est supprimé
    [one] { $count } enregistrement de webhook est supprimé avec ses envois
   *[other] { $count } enregistrements de webhooks sont supprimés avec leurs envois
}
revoke-stays = Ce que le client a écrit (propositions, billets, votes) reste.
revoke-title = Révoquer { $name } ?
revoke-tokens = { $count ->
    [0] Aucun jeton n’est valide actuellement
    [one] { $count } jeton valide cesse de fonctionner
   *[other] { $count } jetons valides cessent de fonctionner
}
rotate-button = Renouveler le secret
rotate-done = Le client a un nouveau secret.
rotate-effect = Le secret actuel n’obtient plus de nouveaux jetons. Les programmes qui l’utilisent ont besoin du nouveau.
rotate-here = Renouveler le secret
rotate-link = Renouveler le secret…
rotate-stays = { $count ->
    [0] Aucun jeton n’est valide actuellement.
    [one] { $count } jeton déjà émis reste valide jusqu’à son terme.
   *[other] { $count } jetons déjà émis restent valides jusqu’à leur terme.
}
rotate-title = Renouveler le secret de { $name } ?

# Permissions.
granted-of = { $granted } sur { $all } accordés
permissions-note = Ce qui est coché s’applique dès la prochaine requête, y compris aux jetons déjà émis. Retirer un événement conserve les enregistrements de webhooks, mais il ne leur est plus envoyé. Une portée dont l’organisation a désactivé la fonction n’est pas affichée.
permissions-replace = Remplace tout l’ensemble : ce qui n’est pas coché est retiré.
permissions-save = Enregistrer les autorisations
permissions-saved = Autorisations enregistrées.
scope-any = fonctionne avec toute portée
scope-auth-type = Connexion des personnes
scope-accountability = Résultats
scope-attachments = Pièces jointes
scope-blogs = Billets
scope-budgets = Budgets
scope-debates = Débats
scope-meetings = Rencontres
scope-oauth = Personnes
scope-pages = Pages : pas encore d’opération
scope-proposals = Propositions
scope-public = Espaces et composants
scope-roles = Rôles des personnes
scope-spaces = Espaces : pas encore d’opération
scope-surveys = Questionnaires et réponses
scope-system = Paramètres de l’organisation
scope-webhooks = Webhooks
group-answers = Réponses
group-auth-type = Type d’authentification
group-components = Composants
group-events = Événements de webhooks
group-events-hint = Événements auxquels le client d’API peut s’abonner
group-extended-data = Données étendues
group-links = Liens de connexion
group-operations = Opérations
group-organizations = Organisations
group-people = Personnes
group-questionnaires = Questionnaires
group-server = Serveur
group-spaces = Espaces
ability-oauth-impersonate = Agir au nom de toute personne participante
ability-oauth-login = Connecter des personnes avec leur mot de passe
ability-oauth-read = Lister les personnes
ability-oauth-magic-link = Créer des liens de connexion
ability-oauth-extended-data-read = Lire
ability-oauth-extended-data-update = Écrire
ability-system-organizations-read = Lire les organisations
ability-system-organizations-update = Modifier les paramètres
ability-system-organizations-destroy = Supprimer des organisations : pas encore d’opération
ability-system-organizations-create = Créer des organisations : pas encore d’opération
ability-system-organizations-extended-data-read = Lire
ability-system-organizations-extended-data-update = Écrire
ability-system-users-update = Modifier des personnes : pas encore d’opération
ability-system-users-destroy = Supprimer des personnes : pas encore d’opération
ability-system-server-restart = Redémarrer le serveur : pas encore d’opération
ability-system-server-exec = Exécuter des commandes : pas encore d’opération
ability-public-component-read = Lire les composants
ability-public-component-extended-data-read = Lire pour les composants
ability-public-component-extended-data-update = Écrire pour les composants
ability-public-space-read = Lire les espaces
ability-public-space-extended-data-read = Lire pour les espaces
ability-public-space-extended-data-update = Écrire pour les espaces
ability-proposals-read = Lire les propositions et les votes
ability-proposals-draft = Écrire et publier des brouillons
ability-proposals-vote = Voter et retirer un vote
ability-proposals-extended-data-read = Lire
ability-proposals-extended-data-update = Écrire
ability-blogs-read = Lire les billets
ability-blogs-write = Écrire des billets
ability-blogs-destroy = Supprimer des billets
ability-meetings-read = Lire les rencontres
ability-meetings-extended-data-read = Lire
ability-meetings-extended-data-update = Écrire
ability-surveys-read = Lire les questionnaires et les questions
ability-surveys-questionnaires-read = Lire les questionnaires
ability-surveys-questions-manage = Modifier les questionnaires et les questions
ability-surveys-answers-submit = Envoyer des réponses
ability-surveys-answers-read = Lire les réponses
ability-surveys-answers-destroy = Supprimer des réponses
ability-debates-read = Lire les débats : pas encore d’opération
ability-budgets-read = Lire les budgets : pas encore d’opération
ability-accountability-read = Lire les résultats : pas encore d’opération
ability-roles-read = Lire les rôles
ability-roles-write = Donner, modifier et retirer des rôles
ability-attachments-read = Lire les pièces jointes
ability-attachments-write = Téléverser et modifier
ability-attachments-destroy = Supprimer des pièces jointes
ability-webhooks-read = Lire les enregistrements
ability-webhooks-write = Créer et modifier des enregistrements
ability-webhooks-destroy = Supprimer des enregistrements
ability-draft-proposal-creation-succeeded = Un brouillon est créé
ability-draft-proposal-update-succeeded = Un brouillon change
ability-proposal-creation-succeeded = Une proposition est publiée
ability-proposal-update-succeeded = Une proposition publiée est modifiée
ability-proposal-state-change-succeeded = Une proposition change d’état
ability-meetings-upcoming-reminder-succeeded = 48 heures avant une rencontre
ability-participatory-process-step-activated-succeeded = Une étape devient l’étape active
ability-system-organizations-created = Une organisation est créée
ability-system-organizations-updated = Une organisation change
ability-system-organizations-deleted = Une organisation est supprimée
ability-user-created = Un compte est créé
ability-user-updated = Un compte change

# Webhook registrations of a client.
not-granted = plus accordé, pas envoyé
registration-address = Adresse
registration-address-hint = http ou https, joignable depuis internet. Chaque événement y est envoyé par un POST signé.
registration-create = Créer l’enregistrement
registration-delete-button = Supprimer l’enregistrement
registration-delete-effect = Plus aucun événement n’est envoyé à cette adresse
registration-delete-log = Ses envois, effectués et en attente, sont supprimés
registration-delete-stays = Le client garde ses autorisations.
registration-delete-title = Supprimer l’enregistrement ?
registration-deleted = Enregistrement supprimé.
registration-delivering = En service
registration-disabled = Désactivé
registration-disabled-why = { $count ->
    [one] depuis le { $date } : { $count } échec
   *[other] depuis le { $date } : { $count } échecs
}
registration-enable = Réactiver
registration-events = Événements
registration-events-hint = Seulement les événements accordés dans l’onglet Autorisations.
registration-failing = En échec
registration-failing-why = { $count ->
    [one] { $count } échec depuis le { $date }
   *[other] { $count } échecs de suite depuis le { $date }
}
registration-new = Nouvel enregistrement
registration-no-events = Le client ne peut encore recevoir aucun événement. Accordez d’abord des événements dans l’onglet Autorisations.
registration-pause = Mettre en pause
registration-paused = En pause
registration-secret = Secret de signature
registration-secret-next = Le secret de signature est affiché une seule fois, sur la page suivante.
registration-test = Envoyer un test
registrations = Enregistrements
registrations-of = Enregistrements de webhooks de { $name }

# Organizations.
api-enabled-hint = Quand elle est désactivée, chaque opération de cette organisation répond 501, même avec un jeton, et aucun webhook n’est envoyé. Ce panneau n’est pas concerné.
module-accountabilities = Suivi
module-accountabilities-hint = Portée seulement
module-attachments = Pièces jointes
module-attachments-hint = Fichiers et liens
module-blogs = Blogs
module-blogs-hint = Billets
module-budgets = Budgets
module-budgets-hint = Portée seulement
module-debates = Débats
module-debates-hint = Portée seulement
module-forms = Formulaires
module-forms-hint = Questionnaires, questions, réponses
module-meetings = Rencontres
module-meetings-hint = Rencontres
module-proposals = Propositions
module-proposals-hint = Propositions, brouillons, votes
module-surveys = Enquêtes
module-surveys-hint = Portée seulement, sans opération propre
modules-hint = Tant que la REST API est désactivée, les modules gardent leurs valeurs, quoi que l’on coche ici.
modules-lede = Un module désactivé répond 501. Ce qui est stocké reste, et revient quand il est réactivé.
modules-legend = Modules
organization-allowlist = Hôtes autorisés pour les liens de connexion
organization-allowlist-hint = Un par ligne, noms exacts. Les hôtes de l’organisation sont toujours autorisés.
organization-api-off = API désactivée
organization-base = Adresse de l’interface
organization-comments = Longueur maximale d’un commentaire
organization-comments-hint = En caractères. Les composants peuvent fixer la leur.
organization-create = Créer l’organisation
organization-created = { $name } : organisation créée.
organization-delete-button = Supprimer l’organisation
organization-delete-clients = { $count ->
    [0] Aucun client d’API n’est supprimé
    [one] { $count } client d’API est supprimé avec ses jetons et ses webhooks
   *[other] { $count } clients d’API sont supprimés avec leurs jetons et leurs webhooks
}
organization-delete-host = { $host } ne répond plus à aucune requête
organization-delete-lede = Supprime l’organisation avec ses espaces, ses personnes, ses votes, ses fichiers et ses clients d’API. Cette action est définitive.
organization-delete-name = Saisissez le nom de l’organisation pour confirmer
organization-delete-people = { $count ->
    [0] Aucun compte n’est supprimé
    [one] { $count } compte est supprimé avec ses propositions et ses votes
   *[other] { $count } comptes sont supprimés avec leurs propositions et leurs votes
}
organization-delete-spaces = { $count ->
    [0] Aucun espace n’est supprimé
    [one] { $count } espace est supprimé avec tout son contenu
   *[other] { $count } espaces sont supprimés avec tout leur contenu
}
organization-delete-stays = Le journal d’audit et les événements déjà envoyés restent. Exportez d’abord l’organisation si elle peut encore servir.
organization-deleted = { $name } : organisation supprimée.
organization-dns-cancel = Pour annuler le changement, saisissez l’hôte actuel et enregistrez.
organization-dns-hint = Enregistrements DNS d’un hôte, un par ligne :
organization-dns-see = Voir les enregistrements DNS
organization-dns-wanted = Ces enregistrements DNS doivent exister pour le nouvel hôte. D’ici là, l’hôte actuel reste.
organization-files = Fichiers et liens
organization-fine = en ordre
organization-host = Hôte principal
organization-host-hint = Actuellement { $host }. Un nouvel hôte le remplace dès que ses enregistrements DNS mènent ici ; l’ancien cesse alors de fonctionner.
organization-host-new-hint = Un nom avec un point, par exemple participate.city.example. Ses enregistrements DNS doivent mener ici.
organization-host-pending = Hôte en attente
organization-host-waiting = { $new } attend de remplacer { $now }
organization-hosts = Noms d’hôtes
organization-hosts-hint = L’hôte principal détermine l’organisation. Les hôtes secondaires y mènent.
organization-identity = Nom et description
organization-identity-hint = Visibles pour les personnes participantes et dans l’interface.
organization-interface = Interface
organization-languages = Langues proposées
organization-languages-and-time = Langues et heure
organization-largest-file = Taille maximale d’un fichier
organization-largest-file-hint = En octets. 10485760 correspond à 10 MB.
organization-main-language = Langue principale
organization-main-language-hint = Le nom doit avoir un texte dans cette langue.
organization-new = Nouvelle organisation
organization-new-lede = Saisissez un nom et un hôte. Tout le reste peut être modifié plus tard.
organization-people-hint = Comment les personnes obtiennent un compte.
organization-prefix = Préfixe des références
organization-prefix-hint = Début des références des ressources et des noms des fichiers téléversés.
organization-registration = Inscription
organization-secondary = Hôtes secondaires
organization-secondary-hint = Un par ligne. Leurs requêtes sont redirigées (301) vers l’hôte principal.
organization-secondary-waiting = Non confirmés, et inconnus jusqu’à ce que leurs enregistrements DNS mènent ici : { $hosts }. Pour en confirmer un tout de suite, retirez-le, enregistrez, puis saisissez-le à nouveau.
organization-tab-api = REST API
organization-tab-settings = Paramètres
organization-tabs = Paramètres de l’organisation
organization-time-zone = Fuseau horaire
organization-views = Textes et affichage
organizations-caption = Organisations par nom
organizations-filter = Filtrer les organisations
organizations-lede = Chaque organisation est accessible sous son propre hôte et ne voit que ses propres données.
organizations-none = Aucune organisation
organizations-pages = Pages des organisations
organizations-search = Nom ou hôte
registration-mode-disabled = Personne
registration-mode-disabled-hint = Seuls les clients d’API créent des comptes.
registration-mode-enabled = Tout le monde peut s’inscrire
registration-mode-enabled-hint = Les personnes créent leur propre compte.
registration-mode-existing = Comptes existants seulement
registration-mode-existing-hint = Les personnes qui ont un compte peuvent se connecter ; aucune nouvelle ne peut s’inscrire.
setting-badges-enabled = Badges
setting-enable-machine-translations = Traductions automatiques
setting-enable-machine-translations-hint = Aucun service de traduction n’est configuré dans ce déploiement.
setting-enable-participatory-space-filters = Filtres par zone et périmètre
setting-force-users-to-authenticate-before-access-organization = Connexion requise pour lire
setting-rich-text-editor-in-public-views = Éditeur de texte enrichi pour les personnes participantes
setting-send-welcome-notification = Les nouvelles personnes reçoivent un e-mail de bienvenue
setting-user-groups-enabled = Groupes de personnes
settings-save = Enregistrer les paramètres
settings-saved = Paramètres enregistrés.
settings-together = Tous les champs sont enregistrés ensemble, ou aucun.

# Administrators.
admin-account = Compte
admin-account-hint = Les comptes d’administration du système peuvent ouvrir toutes les pages de ce panneau.
admin-active = Actif
admin-create = Créer le compte d’administration
admin-created = { $email } : compte d’administration créé.
admin-delete-button = Supprimer le compte d’administration
admin-delete-effect = Le compte ne peut plus se connecter
admin-delete-sessions = Ses sessions prennent fin immédiatement
admin-delete-stays = Le journal d’audit garde ce que le compte a fait.
admin-deleted = { $email } : compte d’administration supprimé.
admin-last-sign-in = Dernière connexion
admin-locked = Verrouillé pour certaines adresses
admin-locked-until = jusqu’au { $time }
admin-new = Nouveau compte d’administration
admin-no-password = Sans mot de passe
admin-save = Enregistrer le compte d’administration
admin-saved = { $email } : compte enregistré.
admin-unlocked = { $email } : compte déverrouillé.
admin-you = vous
admins-caption = Comptes d’administration du système par adresse e-mail
admins-lede = Comptes de ce panneau. Ils n’appartiennent à aucune organisation.
