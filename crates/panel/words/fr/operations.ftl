# The audit trail.
audit-action = Action
audit-caption = Journal d’audit, du plus récent au plus ancien
audit-changes = Ce qui a changé
audit-count = { $count ->
    [one] { $count } changement
   *[other] { $count } changements
}
audit-filter = Filtrer le journal d’audit
audit-lede = Qui a changé quoi, et quand. Les entrées ne sont jamais modifiées ; les secrets et les mots de passe n’y figurent jamais.
audit-none = Aucune entrée
audit-on = Objet
audit-pages = Pages du journal d’audit
audit-search = Qui a agi, ou sur quoi
audit-time = Heure
audit-who = Qui
audit-with = Moyen
actor-administrator = panneau
actor-client = client d’API
actor-command-line = ligne de commande
actor-archive = archive
actor-anonymous = origine inconnue
actor-for = { $kind }, au nom de { $name }
action-api-client-created = Client d’API créé
action-api-client-updated = Client d’API renommé
action-api-client-permissions-replaced = Autorisations remplacées
action-api-client-permissions-granted = Autorisations accordées
action-api-client-permissions-revoked = Autorisations retirées
action-api-client-secret-rotated = Secret renouvelé
action-api-client-revoked = Client d’API révoqué
action-webhook-registration-created = Enregistrement de webhook créé
action-webhook-registration-updated = Enregistrement de webhook modifié
action-webhook-registration-deleted = Enregistrement de webhook supprimé
action-webhook-registration-paused = Enregistrement de webhook mis en pause
action-webhook-registration-resumed = Enregistrement de webhook repris
action-webhook-registration-tested = Test envoyé à un webhook
action-webhook-delivery-replayed = Envois relancés
action-organization-created = Organisation créée
action-organization-updated = Organisation modifiée
action-organization-deleted = Organisation supprimée
action-organization-host-check-started = Vérification de l’hôte lancée
action-administrator-created = Compte d’administration créé
action-administrator-updated = Compte d’administration modifié
action-administrator-password-changed = Mot de passe d’un compte d’administration changé
action-administrator-deleted = Compte d’administration supprimé
action-administrator-locked = Compte d’administration verrouillé
action-administrator-unlocked = Compte d’administration déverrouillé
action-administrator-second-factor-enabled = Second facteur activé
action-administrator-second-factor-disabled = Second facteur désactivé
action-sign-in-succeeded = Connexion
action-sign-in-refused = Connexion refusée
action-sign-in-locked = Connexion refusée, car sa provenance est refusée
action-sign-out = Déconnexion
action-credentials-refused = Identifiants d’un client refusés
action-secret-shown = Secret affiché
action-role-created = Rôle créé
action-role-updated = Rôle modifié
action-role-deleted = Rôle supprimé
action-user-created = Personne créée
action-user-updated = Personne modifiée
action-user-deleted = Personne supprimée
action-user-confirmed = Personne confirmée
action-user-blocked = Personne bloquée
action-user-unblocked = Personne débloquée
action-user-locked = Personne verrouillée
action-user-unlocked = Personne déverrouillée
action-user-impersonated = Identité d’un administrateur général prise par un client
action-magic-link-created = Lien magique créé pour un administrateur général
action-space-created = Espace créé
action-space-updated = Espace modifié
action-space-deleted = Espace supprimé
action-step-created = Étape créée
action-step-updated = Étape modifiée
action-step-activated = Étape activée
action-step-deleted = Étape supprimée
action-component-created = Composant créé
action-component-updated = Composant modifié
action-component-deleted = Composant supprimé
action-proposal-created = Proposition créée
action-proposal-updated = Proposition modifiée
action-proposal-published = Proposition publiée
action-proposal-answered = Réponse donnée à une proposition
action-proposal-hidden = Proposition masquée
action-proposal-shown = Proposition réaffichée
action-proposal-withdrawn = Proposition retirée
action-proposal-deleted = Proposition supprimée
action-meeting-created = Rencontre créée
action-meeting-updated = Rencontre modifiée
action-meeting-deleted = Rencontre supprimée
action-post-created = Billet créé
action-post-updated = Billet modifié
action-post-deleted = Billet supprimé
action-survey-created = Questionnaire créé
action-survey-updated = Questionnaire modifié
action-survey-deleted = Questionnaire supprimé
action-responses-exported = Réponses exportées
action-attachment-created = Pièce jointe créée
action-attachment-updated = Pièce jointe modifiée
action-attachment-deleted = Pièce jointe supprimée
action-extended-data-updated = Données étendues modifiées
action-job-deleted = Tâche supprimée
action-archive-imported = Archive importée
action-archive-exported = Archive exportée
action-backup-made = Sauvegarde créée
action-backup-restored = Base de données restaurée depuis une sauvegarde
action-key-reencrypted = Secrets chiffrés à nouveau
action-key-rotated = Clé secrète remplacée

# Jobs.
deleted = n’existe plus
history = Historique
job-accepted = Acceptée
job-accepted-note = réponse 202, tâche stockée
job-code = Code
job-command = Commande
job-completed = Terminée
job-completed-lede = L’écriture est faite.
job-delete-button = Supprimer la tâche
job-delete-client = Le client ne peut plus lire son résultat
job-delete-ended = Ce que la tâche a fait reste
job-delete-link = Supprimer la tâche…
job-delete-pending = La tâche n’est jamais exécutée
job-delete-processing = La tâche en cours d’exécution prend quand même effet
job-delete-title = Supprimer la tâche ?
job-deleted = Tâche supprimée.
job-failed = Échec
job-failed-lede = L’écriture a été refusée ou n’a pas pu être faite : rien n’a été modifié. Une tâche en échec n’est pas relancée.
job-field = Champ
job-for = Pour
job-for-client = le client lui-même (jeton de service)
job-id = Identifiant de la tâche
job-no-token = Le jeton de la requête n’est jamais stocké.
job-one = Tâche
job-pending = En attente
job-pending-lede = La tâche attend un exécuteur.
job-processing = En cours
job-processing-lede = Un exécuteur traite la tâche maintenant.
job-request = Requête
job-result = Résultat
job-seen = Vu par le client
job-seen-lede = Le client lit le même résultat, sans jeton, à l’adresse
job-starts = Démarrages
job-starts-note = démarrage { $starts } sur { $most } au plus
job-text = Texte
job-wrong = Ce qui n’allait pas
jobs-caption = Tâches, de la plus récente à la plus ancienne
jobs-filter = Filtrer les tâches
jobs-lede = Écritures que les clients ont envoyées sans /sync. Un exécuteur traite chacune une fois.
jobs-none = Aucune tâche
json-cut = Seuls les 64 premiers KiB sont affichés.
log-pages = Plus récents et plus anciens

# Deliveries and registrations.
deliveries-caption = Envois, du plus récent au plus ancien
deliveries-filter = Filtrer les envois
deliveries-lede = Événements en route vers les enregistrements webhook des clients d’API.
deliveries-none = Aucun envoi
delivery-answer = Réponse du récepteur
delivery-attempt = Tentative { $number }
delivery-attempts = Tentatives
delivery-dead = Abandonné
delivery-delivered = Remis
delivery-dropped = Écarté
delivery-ended = Terminé
delivery-event = Événement
delivery-event-id = Identifiant de l’événement
delivery-id = Identifiant de l’envoi
delivery-is-test = un essai
delivery-next = prochaine tentative le { $time }
delivery-next-attempt = Prochaine tentative
delivery-one = Envoi
delivery-pending = En attente
delivery-queued = Mis en file
delivery-reason = Raison
delivery-registration = Numéro de l’enregistrement
delivery-replay = Envoyer de nouveau
delivery-replayed = L’envoi est de nouveau en file, avec le même contenu et le même identifiant.
delivery-took = { $milliseconds } ms
registration-enabled = L’enregistrement reçoit de nouveau les événements.
registration-is-paused = L’enregistrement est en pause. Ses envois attendent.
registration-no-test = Un enregistrement en pause ou désactivé ne reçoit pas d’essai. Activez-le d’abord.
registration-one = Enregistrement
registration-tested = Un essai est en route.
registrations-active = Actifs
registrations-caption = Enregistrements webhook de tous les clients d’API
registrations-disabled = Désactivés
registrations-filter = Filtrer les enregistrements
registrations-lede = Adresses que les clients d’API ont enregistrées pour des événements, avec les envois encore conservés.
registrations-pages = Pages des enregistrements
registrations-paused = En pause
registrations-search = Adresse ou nom du client

# Find.
find-hint = Adresse e-mail d’un compte d’administration, hôte, identifiant de client, de tâche ou d’envoi
find-none = Rien trouvé
find-none-lede = Aucune fiche n’a exactement cet identifiant.

# Mails that wait.
nav-mails = File des courriels
mails-lede = Courriels qui ne sont pas encore envoyés. Ceux qui sont abandonnés après huit tentatives ne sont pas conservés ; le journal du serveur les contient.
mails-caption = Courriels en attente, du plus récent au plus ancien
mails-filter = Filtrer les courriels
mails-none = Aucun courriel en attente
mails-none-text = Tous les courriels ont été envoyés ou abandonnés.
mails-retried = Nouvelle tentative
mails-retry = Tout réessayer maintenant
mails-are-retried = { $count ->
    [0] Aucun courriel n’attendait de nouvelle tentative.
    [one] 1 courriel part maintenant.
   *[other] { $count } courriels partent maintenant.
}
mail-one = Courriel
mail-queued = Mis en file
mail-confirmation = Confirmation d’une adresse
mail-welcome = Bienvenue
mail-invitation = Invitation à un rôle
mail-notice = Connexions refusées
mail-to-account = au compte { $number }
mail-to-invited = à l’adresse invitée
mail-sending = En cours d’envoi
mail-waiting = En attente
mail-retried = Échec, nouvelle tentative prévue
action-mails-retried = Courriels réessayés

# Replaying many deliveries.
deliveries-replay-link = Les envoyer de nouveau…
deliveries-replay-title = Envoyer de nouveau ?
deliveries-replay-effect = { $count ->
    [0] Aucun envoi terminé ne correspond à ces filtres.
    [one] 1 envoi est relancé.
   *[other] { $count } envois sont relancés.
}
deliveries-replay-most = Il y en a plus. Recommencez pour le reste.
deliveries-replay-same = Chacun garde son identifiant et son contenu, pour que le récepteur reconnaisse ce qu’il a déjà.
deliveries-replay-stays = Les envois en attente restent tels quels.
deliveries-replay-button = Envoyer de nouveau
deliveries-replayed = { $count ->
    [0] Aucun envoi n’a été relancé.
    [one] 1 envoi est de nouveau en file.
   *[other] { $count } envois sont de nouveau en file.
}

# What the server needs.
nav-storage = Stockage et santé
storage-all-good = Tout ce dont le serveur a besoin est là.
storage-faults = { $count ->
    [one] 1 vérification a échoué.
   *[other] { $count } vérifications ont échoué.
}
storage-caption = Vérifications de ce dont le serveur a besoin
storage-check = Vérifié
storage-found = Constat
storage-good = Bon
storage-fault = Défaut
storage-check-configuration = Réglages
storage-check-open-files = Fichiers ouverts
storage-check-storage = Répertoire des données
storage-check-files = Pièces jointes
storage-check-secret-key = Clé secrète
storage-check-clock = Horloge
storage-check-schema = Tables de la base de données
storage-check-database = Base de données
storage-check-dns = Hôtes et serveur de noms
storage-check-certificates = Certificats
storage-check-mail = Serveur de messagerie
storage-check-backups = Sauvegardes
storage-check-shares = Quotas
storage-queues = En attente
storage-jobs = Tâches
storage-deliveries = Envois de webhooks
storage-tasks = Courriels et vérifications d’hôtes
storage-database-size = Taille de la base de données
storage-first-accepted = le premier a été accepté le { $time }
storage-first-queued = le premier a été mis en file le { $time }
storage-first-due = le premier est prévu le { $time }

# Quotas : ce que les clients et les organisations utilisent.
nav-shares = Quotas
shares-lede = Ce qu’un élément, un client API et une organisation utilisent en même temps est limité, pour que les autres gardent leur rythme. Qui dépasse son quota reçoit la réponse 429 ; les autres ne sont pas refusés.
shares-limits = Limites
shares-tenants = Utilisé, par organisation
shares-none = Aucune organisation n’utilise de quota en ce moment
shares-one = Quota
shares-record = Élément
shares-process = Ce serveur
shares-used = Utilisé
shares-refused = Refusés depuis le démarrage
share-reads = Lectures
share-searches = Recherches
share-job-streams = Flux de tâches
share-writes = Écritures en cours ou en attente
share-large-bodies = Longues requêtes
share-large-answers = Longues réponses
share-images = Fichiers reçus en cours d’examen
share-passwords = Mots de passe en vérification
share-webhook-requests = Requêtes de webhooks
share-registrations = Enregistrements de webhooks
share-unattached-files = Fichiers qui ne sont joints à rien
share-jobs = Tâches
share-kept-answers = Réponses gardées pour les clés d’idempotence
