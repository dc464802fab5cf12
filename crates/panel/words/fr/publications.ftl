# Meetings and posts.

# Both.
nav-meetings = Rencontres
nav-posts = Billets
problem-before-start = Saisissez une fin qui n’est pas avant le début.
publication-choose = Choisir un composant
publication-place = Espace ou composant
publications-search = Partie du titre

# Meetings.
audience-everybody = Tout le monde
audience-everybody-hint = Toutes les personnes qui voient le composant voient la rencontre.
audience-private = Privée
audience-private-hint = Seuls les personnes inscrites, les personnes qui ont un rôle dans l’espace et les administrateurs la voient.
audience-transparent = Privée, visible de tous
audience-transparent-hint = La rencontre est privée. Toutes les personnes qui voient le composant la voient quand même.
meeting-audience = Qui la voit
meeting-create = Créer la rencontre
meeting-created = « { $title } » est créée.
meeting-created-next = Elle n’est pas encore publiée. Publiez-la sur cette page.
meeting-delete-attachments = Ses pièces jointes ne sont plus affichées.
meeting-delete-button = Supprimer la rencontre
meeting-delete-gone = La rencontre disparaît de toutes les listes et de l’interface. Aucun rappel n’est envoyé.
meeting-delete-here = Supprimer la rencontre
meeting-delete-hint = Elle disparaît de toutes les listes. Cette action est définitive.
meeting-delete-link = Supprimer la rencontre…
meeting-delete-registrations = { $count ->
    [one] { $count } inscription est perdue
   *[other] { $count } inscriptions sont perdues
}
meeting-delete-stays = Le composant et ses autres rencontres restent.
meeting-delete-title = Supprimer « { $title } » ?
meeting-deleted = « { $title } » est supprimée.
meeting-end = Fin
meeting-hidden = Masquée
meeting-hide = Masquer la rencontre
meeting-hide-done = « { $title } » est masquée.
meeting-hide-done-undo = Pour annuler, choisissez Afficher sur cette page.
meeting-hide-hint = Elle disparaît de toutes les listes et aucun rappel n’est envoyé. Elle peut être affichée de nouveau.
meeting-lede = id { $id }, { $component }. Personnes inscrites : { $registrations }.
meeting-new = Nouvelle rencontre
meeting-new-lede = La rencontre n’est d’abord pas publiée.
meeting-one = Rencontre
meeting-past = Passées
meeting-publish = Publier la rencontre
meeting-publish-done = « { $title } » est publiée.
meeting-publish-done-undo = Pour annuler, choisissez Dépublier sur cette page. Un rappel envoyé reste envoyé.
meeting-publish-hint = Elle figure dans les listes. Un rappel est envoyé 48 heures avant le début, ou tout de suite s’il reste moins de temps.
meeting-save = Enregistrer la rencontre
meeting-saved = « { $title } » est enregistrée.
meeting-show = Afficher la rencontre
meeting-show-done = « { $title } » est de nouveau affichée.
meeting-show-done-undo = Pour annuler, choisissez Masquer sur cette page.
meeting-show-hint = Elle réapparaît dans les listes.
meeting-start = Début
meeting-unpublish = Dépublier la rencontre
meeting-unpublish-done = « { $title } » n’est plus publiée.
meeting-unpublish-done-undo = Pour annuler, choisissez Publier sur cette page.
meeting-unpublish-hint = Elle disparaît de toutes les listes jusqu’à une nouvelle publication. Les inscriptions restent.
meeting-until = jusqu’au { $time }
meeting-upcoming = À venir
meeting-when = Date et heure
meeting-when-hint = Dans le fuseau horaire de l’organisation. Avec un autre début, un nouveau rappel est envoyé 48 heures avant, ou tout de suite s’il reste moins de temps.
meeting-withdraw-button = Annuler la rencontre
meeting-withdraw-done = « { $title } » est annulée.
meeting-withdraw-done-undo = Cette action est définitive.
meeting-withdraw-here = Annuler la rencontre
meeting-withdraw-hint = Elle reste visible et aucun rappel n’est envoyé. Cette action est définitive.
meeting-withdraw-link = Annuler la rencontre…
meeting-withdraw-registrations = { $count ->
    [one] { $count } personne inscrite n’en reçoit pas de message
   *[other] { $count } personnes inscrites n’en reçoivent pas de message
}
meeting-withdraw-reminder = Aucun rappel n’est plus envoyé.
meeting-withdraw-shown = La rencontre reste dans les listes.
meeting-withdraw-stays = Les textes, les horaires et les inscriptions restent.
meeting-withdraw-title = Annuler « { $title } » ?
meeting-withdrawn = Annulée
meetings-earliest-first = Début le plus ancien d’abord
meetings-filter = Filtrer les rencontres
meetings-latest-first = Début le plus récent d’abord
meetings-lede = Les rencontres de tous les composants. Les rencontres supprimées n’y figurent pas.
meetings-no-match = Aucune rencontre ne correspond
meetings-none = Pas encore de rencontre

# Posts.
post-author = Auteur ou autrice
post-body = Texte
post-create = Créer le billet
post-created = « { $title } » est créé.
post-delete-attachments = Ses pièces jointes ne sont plus affichées.
post-delete-button = Supprimer le billet
post-delete-gone = Le billet disparaît de toutes les listes et de l’interface.
post-delete-here = Supprimer
post-delete-hint = Il disparaît de toutes les listes. Cette action est définitive.
post-delete-link = Supprimer le billet…
post-delete-stays = Le composant et ses autres billets restent.
post-delete-title = Supprimer { $title } ?
post-deleted = « { $title } » est supprimé.
post-draft = Brouillon
post-hidden = Masqué
post-hide = Masquer le billet
post-hide-done = « { $title } » est masqué.
post-hide-done-undo = Pour annuler, choisissez Afficher sur cette page.
post-hide-hint = Personne ne le voit alors, pas même la personne qui l’a écrit. Il peut être affiché de nouveau.
post-lede = id { $id }, { $component }. Écrit par : { $author }.
post-new = Nouveau billet
post-new-lede = Le billet est écrit au nom de l’organisation.
post-of-organization = l’organisation
post-one = Billet
post-publication = Publication
post-publish = Publier maintenant
post-publish-done = « { $title } » est publié.
post-publish-done-undo = Pour annuler, choisissez En faire un brouillon sur cette page.
post-publish-hint = Toutes les personnes qui voient le composant voient le billet dès maintenant.
post-published-at = Date et heure de publication
post-published-at-hint = Vide : un brouillon. Plus tard que maintenant : publié à ce moment. Dans le fuseau horaire de l’organisation.
post-save = Enregistrer le billet
post-saved = « { $title } » est enregistré.
post-scheduled = Programmé
post-show = Afficher le billet
post-show-done = « { $title } » n’est plus masqué.
post-show-done-undo = Pour annuler, choisissez Masquer sur cette page.
post-show-hint = Toutes les personnes qui peuvent voir un billet dans son état le voient de nouveau.
post-unpublish = En faire un brouillon
post-unpublish-done = « { $title } » est un brouillon.
post-unpublish-done-undo = Pour annuler, choisissez Publier maintenant sur cette page.
post-unpublish-hint = Seule la personne qui l’a écrit le voit alors. La date de publication est supprimée.
posts-filter = Filtrer les billets
posts-lede = Les billets de tous les blogs, avec les brouillons et les billets programmés. Les billets supprimés n’y figurent pas.
posts-no-match = Aucun billet ne correspond
posts-none = Pas encore de billet

# Registrations for a meeting.
problem-person-unknown = Aucune personne de l’organisation n’a ce pseudonyme ou cet identifiant.
registered-add = Inscrire une personne
registered-add-button = Inscrire
registered-added = Inscription enregistrée : { $name }.
registered-count = { $count ->
    [one] { $count } personne inscrite
   *[other] { $count } personnes inscrites
}
registered-lede = Les personnes inscrites voient la rencontre, même si elle est privée.
registered-none = Personne n’est inscrit
registered-person = Personne
registered-person-hint = Pseudonyme ou identifiant.
registered-remove = Retirer
registered-removed = Inscription retirée : { $name }.
registered-removed-undo = Pour annuler, inscrivez de nouveau la personne.
registered-title = Inscriptions
