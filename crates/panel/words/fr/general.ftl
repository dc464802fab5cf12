# Navigation and frame of the pages.
administration = administration
read-only-lede = Cette plateforme est en lecture seule pour le moment : rien ne peut être modifié.
read-only-stored = Rien n’a été enregistré.
read-only-title = Lecture seule
skip = Aller au contenu
menu = Menu
menu-close = Fermer le menu
nav-main = Principal
nav-start = Accueil
nav-settings = Paramètres
nav-organizations = Organisations
nav-api-clients = Clients d’API
nav-admins = Admins
nav-deployment = Déploiement
nav-operations = Exploitation
nav-jobs = Tâches
nav-deliveries = Envois
nav-registrations = Enregistrements
nav-audit = Journal d’audit
nav-docs = Doc. de l’API
find = Rechercher
find-placeholder = E-mail, hôte ou identifiant
organization = Organisation
choose-another = En choisir une autre
breadcrumb = Fil d’Ariane
sign-out = Se déconnecter
times-in = Les heures sont celles de { $zone }.

# Words used on many pages.
all = Tout
all-organizations = toutes les organisations
apply = Appliquer
cancel = Annuler
choose = Choisir…
copied = Copié
copy = Copier
delete = Supprimer
delete-link = Supprimer…
delete-named = Supprimer { $name }…
delete-title = Supprimer { $name } ?
description = Description
edit = Modifier
email = Adresse e-mail
from = Du
html-hint = HTML simple.
more-than = Plus de { $number }
more-than-title = { $title } (au moins)
never = jamais
newest-first = Du plus récent au plus ancien
none = aucun
off = non
on = oui
password = Mot de passe
search = Recherche
since = depuis le { $date }
to = Au
unlock = Déverrouiller

# Columns.
column-acts = Actions
column-changed = Dernier changement
column-created = Création
column-languages = Langues
column-name = Nom
column-people = Personnes
column-state = État

# Lists.
filter-clear = Tout effacer
filter-remove = Retirer le filtre
found-shown = { $count ->
    [one] { $count } résultat affiché
   *[other] { $count } résultats affichés
}
pages-newer = Plus récents
pages-next = Suivante
pages-older = Plus anciens
pages-place = Page { $page }
pages-previous = Précédente

# Forms.
confirm-lede = Cette action est définitive. Elle prend effet dès la prochaine requête :
field-optional = (facultatif)
field-problem = Problème :
not-saved-yet = Pas encore enregistré.
problems-title = { $count ->
    [one] Rien n’a été enregistré : { $count } correction est nécessaire
   *[other] Rien n’a été enregistré : { $count } corrections sont nécessaires
}
problem-blank = Saisissez un texte.
problem-changed-meanwhile = Une autre personne a modifié cette fiche entre-temps. Rien n’a été enregistré. Rouvrez la page pour voir ce qui a changé, et refaites-y votre modification.
problem-choose = Choisissez une valeur.
problem-code = Le code est incorrect. Saisissez le code que l’application affiche maintenant.
problem-email = Saisissez une adresse e-mail.
problem-email-taken = Un autre compte d’administration a déjà cette adresse e-mail.
problem-factor-expired = Ce formulaire est trop ancien. Recommencez avec un nouveau code QR.
problem-factor-off = Le second facteur est déjà désactivé.
problem-factor-on = Le second facteur est déjà activé. Désactivez-le d’abord.
problem-greater = Saisissez 1 ou plus.
problem-inclusion = Choisissez une des valeurs proposées.
problem-last-admin = Le dernier compte d’administration ne peut pas être supprimé.
problem-long = Saisissez au plus { $most } caractères.
problem-name-typed = Le nom n’est pas le même. Saisissez-le tel qu’il est affiché.
problem-nul = Un texte contient un caractère qui ne peut pas être stocké (U+0000, ou des octets qui ne sont pas en UTF-8).
problem-number = Saisissez un nombre entier.
problem-password-blank = Saisissez un mot de passe qui ne contient pas que des espaces.
problem-password-email = Saisissez un mot de passe différent de l’adresse e-mail.
problem-password-long = Saisissez 1 000 caractères au plus.
problem-password-short = Saisissez au moins 12 caractères.
problem-scope = La portée { $scope } n’existe pas.
problem-taken = Cette valeur est déjà utilisée. Saisissez-en une autre.
text-all = Toutes les langues
text-empty = vide
text-in = ({ $language })
text-main = langue principale
text-partly-empty = { $empty } sur { $all } vides
text-problems = { $count ->
    [one] { $count } problème
   *[other] { $count } problèmes
}
text-shown = Langue affichée
texts = Textes

# Languages.
language = Langue
language-en = Anglais
language-es = Espagnol
language-fr = Français
language-of-browser = Celle du navigateur

# Secrets.
secret-first-call = Premier appel
secret-lede = Il n’est affiché qu’une fois et n’est stocké que sous une forme illisible. S’il est perdu, créez-en un nouveau.
secret-stored = Je l’ai conservé
secret-title = Conservez le secret maintenant

# Errors.
broken-busy = Le serveur est surchargé ou la base de données ne répond pas. Rien n’a été modifié. Réessayez dans une minute.
broken-hint = Le numéro de la requête permet à l’exploitation de trouver la cause dans le journal.
broken-lede = Une erreur du serveur a interrompu cette requête. Elle figure dans le journal. Si vous étiez en train d’enregistrer, vérifiez d’abord si le changement est là : il est stocké en entier ou pas du tout.
broken-request = Requête
broken-time = Heure
broken-title = Une erreur s’est produite
forbidden-title = Non autorisé
missing-lede = Il n’y a rien à cette adresse. La page a été supprimée, elle appartient à une autre organisation, ou l’adresse est incomplète.
missing-title = Page introuvable
refused-title = Impossible
stale-lede = Ce formulaire est trop ancien ou a déjà été envoyé. Rien n’a été modifié. Ouvrez-le de nouveau.
stale-open = Rouvrir le formulaire
stale-title = Ce formulaire est trop ancien
too-many-lede = Trop de connexions ont été refusées depuis cette adresse. Réessayez dans { $seconds } s.
too-many-open = Se connecter
too-many-title = Trop de tentatives

# Sign-in.
sign-in = Se connecter
sign-in-code = Code
sign-in-code-hint = Les six chiffres de votre application, ou un code de secours. Seulement pour les comptes avec un second facteur.
sign-in-code-needed = Saisissez le code de votre application, et de nouveau le mot de passe.
sign-in-hint = Pour l’administration du système. Les comptes de participation ne fonctionnent pas ici. Pour définir un nouveau mot de passe, exécutez cette commande sur le serveur :
sign-in-refused = Adresse e-mail ou mot de passe incorrect. Après 20 essais refusés en une heure, ceux qui suivent du même endroit sont refusés pendant une heure.
session-ended = Votre session a pris fin. Connectez-vous et renvoyez le formulaire.

# The own account.
account = Votre compte
confirmation = Saisissez votre mot de passe
confirmation-code-hint = Les six chiffres de votre application, ou un code de secours. Chacun ne sert qu’une fois : si vous venez d’utiliser celui qui s’affiche, attendez le suivant.
confirmation-continue = Continuer
confirmation-lede = Modifier des comptes, des mots de passe ou des seconds facteurs d’administrateurs demande votre propre mot de passe. Il est valable cinq minutes.
confirmation-open = Changer le mot de passe ou le second facteur
confirmation-refused = Le mot de passe ou le code est incorrect. Cela compte comme une connexion refusée.
confirmation-unsaved = Rien n’a été enregistré : votre mot de passe était de nouveau nécessaire. Saisissez-le, puis envoyez de nouveau le formulaire.
password-hint = Au moins 12 caractères.
password-new = Nouveau mot de passe
password-new-hint = Au moins 12 caractères. Vide : le mot de passe reste.
password-save = Enregistrer le mot de passe
password-saved = Mot de passe enregistré.
password-sessions = Un nouveau mot de passe met fin à toutes les autres sessions du compte.
preferences = Langue et couleurs
preferences-save = Enregistrer
preferences-saved = Préférences enregistrées.
theme = Couleurs
theme-dark = Sombres
theme-device = Comme l’appareil
theme-light = Claires
recovery-codes = Codes de secours
second-factor = Second facteur
second-factor-begin = Configurer un second facteur
second-factor-code-hint = Les six chiffres que l’application affiche maintenant.
second-factor-confirm = Confirmer avec un code
second-factor-end = Désactiver le second facteur
second-factor-hint = Une application sur votre téléphone affiche un nouveau code toutes les 30 secondes. Il est demandé après le mot de passe.
second-factor-is-off = Le mot de passe seul suffit pour se connecter.
second-factor-is-on = La connexion demande le mot de passe et un code.
second-factor-key = Clé
second-factor-of-admin = Ce compte a un second facteur. Ne le désactivez que si le téléphone et les codes de secours sont perdus.
second-factor-off = Le second facteur est désactivé.
second-factor-on = Le second facteur est activé. Chaque code de secours sert une seule fois.
second-factor-qr = Code QR pour l’application
second-factor-scan = Ajouter le compte à l’application
second-factor-scan-hint = Scannez le code QR avec l’application, ou saisissez la clé.
second-factor-turn-on = Activer

# The first administrator.
setup-create = Créer les deux
setup-host-hint = Le nom qu’utilisent les personnes et les programmes. Ses enregistrements DNS doivent mener ici.
setup-lede = Il n’y a pas encore de compte d’administration. Créez le premier, et la première organisation.
setup-name = Nom de l’organisation
setup-title = Configurer Civitas
