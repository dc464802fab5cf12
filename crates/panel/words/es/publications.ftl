# Meetings and posts.

# Both.
nav-meetings = Encuentros
nav-posts = Entradas
problem-before-start = Escriba un final que no sea anterior al inicio.
publication-choose = Elegir un componente
publication-place = Espacio o componente
publications-search = Parte del título

# Meetings.
audience-everybody = Todo el mundo
audience-everybody-hint = Quien ve el componente ve el encuentro.
audience-private = Privado
audience-private-hint = Solo lo ven las personas inscritas, las que tienen un rol en el espacio y la administración.
audience-transparent = Privado, visible para todos
audience-transparent-hint = El encuentro es privado. Aun así, quien ve el componente lo ve.
meeting-audience = Quién lo ve
meeting-create = Crear el encuentro
meeting-created = «{ $title }» está creado.
meeting-created-next = Aún no está publicado. Publíquelo en esta página.
meeting-delete-attachments = Sus adjuntos dejan de mostrarse.
meeting-delete-button = Eliminar el encuentro
meeting-delete-gone = El encuentro desaparece de todas las listas y de la interfaz. No se envía ningún recordatorio.
meeting-delete-here = Eliminar el encuentro
meeting-delete-hint = Desaparece de todas las listas. Esta acción no se puede deshacer.
meeting-delete-link = Eliminar el encuentro…
meeting-delete-registrations = { $count ->
    [one] Se pierde 1 inscripción
   *[other] Se pierden { $count } inscripciones
}
meeting-delete-stays = El componente y sus otros encuentros se conservan.
meeting-delete-title = ¿Eliminar «{ $title }»?
meeting-deleted = «{ $title }» está eliminado.
meeting-end = Final
meeting-hidden = Oculto
meeting-hide = Ocultar el encuentro
meeting-hide-done = «{ $title }» está oculto.
meeting-hide-done-undo = Para deshacerlo, elija Mostrar en esta página.
meeting-hide-hint = Desaparece de todas las listas y no se envía ningún recordatorio. Se puede volver a mostrar.
meeting-lede = id { $id }, { $component }. Personas inscritas: { $registrations }.
meeting-new = Nuevo encuentro
meeting-new-lede = Al principio el encuentro no está publicado.
meeting-one = Encuentro
meeting-past = Pasados
meeting-publish = Publicar el encuentro
meeting-publish-done = «{ $title }» está publicado.
meeting-publish-done-undo = Para deshacerlo, elija Despublicar en esta página. Un recordatorio enviado queda enviado.
meeting-publish-hint = Aparece en las listas. Se envía un recordatorio 48 horas antes del inicio, o enseguida si queda menos tiempo.
meeting-save = Guardar el encuentro
meeting-saved = «{ $title }» está guardado.
meeting-show = Mostrar el encuentro
meeting-show-done = «{ $title }» vuelve a mostrarse.
meeting-show-done-undo = Para deshacerlo, elija Ocultar en esta página.
meeting-show-hint = Vuelve a aparecer en las listas.
meeting-start = Inicio
meeting-unpublish = Despublicar el encuentro
meeting-unpublish-done = «{ $title }» ya no está publicado.
meeting-unpublish-done-undo = Para deshacerlo, elija Publicar en esta página.
meeting-unpublish-hint = Desaparece de todas las listas hasta que se publique de nuevo. Las inscripciones se conservan.
meeting-until = hasta { $time }
meeting-upcoming = Próximos
meeting-when = Fecha y hora
meeting-when-hint = En la zona horaria de la organización. Con otro inicio se envía un nuevo recordatorio 48 horas antes, o enseguida si queda menos tiempo.
meeting-withdraw-button = Cancelar el encuentro
meeting-withdraw-done = «{ $title }» está cancelado.
meeting-withdraw-done-undo = Esta acción no se puede deshacer.
meeting-withdraw-here = Cancelar el encuentro
meeting-withdraw-hint = Sigue visible y no se envía ningún recordatorio. Esta acción no se puede deshacer.
meeting-withdraw-link = Cancelar el encuentro…
meeting-withdraw-registrations = { $count ->
    [one] 1 persona inscrita no recibe ningún mensaje sobre ello
   *[other] { $count } personas inscritas no reciben ningún mensaje sobre ello
}
meeting-withdraw-reminder = Ya no se envía ningún recordatorio.
meeting-withdraw-shown = El encuentro sigue en las listas.
meeting-withdraw-stays = Los textos, las horas y las inscripciones se conservan.
meeting-withdraw-title = ¿Cancelar «{ $title }»?
meeting-withdrawn = Cancelado
meetings-earliest-first = Primero el inicio más antiguo
meetings-filter = Filtrar los encuentros
meetings-latest-first = Primero el inicio más reciente
meetings-lede = Los encuentros de todos los componentes. Los eliminados no aparecen.
meetings-no-match = Ningún encuentro coincide
meetings-none = Todavía no hay encuentros

# Posts.
post-author = Autoría
post-body = Texto
post-create = Crear la entrada
post-created = «{ $title }» está creada.
post-delete-attachments = Sus adjuntos dejan de mostrarse.
post-delete-button = Eliminar la entrada
post-delete-gone = La entrada desaparece de todas las listas y de la interfaz.
post-delete-here = Eliminar
post-delete-hint = Desaparece de todas las listas. Esta acción no se puede deshacer.
post-delete-link = Eliminar la entrada…
post-delete-stays = El componente y sus otras entradas se conservan.
post-delete-title = ¿Eliminar { $title }?
post-deleted = «{ $title }» está eliminada.
post-draft = Borrador
post-hidden = Oculta
post-hide = Ocultar la entrada
post-hide-done = «{ $title }» está oculta.
post-hide-done-undo = Para deshacerlo, elija Mostrar en esta página.
post-hide-hint = Entonces nadie la ve, ni siquiera quien la escribió. Se puede volver a mostrar.
post-lede = id { $id }, { $component }. Autoría: { $author }.
post-new = Nueva entrada
post-new-lede = La entrada se escribe en nombre de la organización.
post-of-organization = la organización
post-one = Entrada
post-publication = Publicación
post-publish = Publicar ahora
post-publish-done = «{ $title }» está publicada.
post-publish-done-undo = Para deshacerlo, elija Convertir en borrador en esta página.
post-publish-hint = Quien ve el componente ve la entrada desde ahora.
post-published-at = Fecha y hora de publicación
post-published-at-hint = Vacío: un borrador. Más tarde que ahora: se publica en ese momento. En la zona horaria de la organización.
post-save = Guardar la entrada
post-saved = «{ $title }» está guardada.
post-scheduled = Programada
post-show = Mostrar la entrada
post-show-done = «{ $title }» ya no está oculta.
post-show-done-undo = Para deshacerlo, elija Ocultar en esta página.
post-show-hint = La vuelve a ver quien puede ver una entrada en su estado.
post-unpublish = Convertir en borrador
post-unpublish-done = «{ $title }» es un borrador.
post-unpublish-done-undo = Para deshacerlo, elija Publicar ahora en esta página.
post-unpublish-hint = Entonces solo la ve quien la escribió. Se quita la fecha de publicación.
posts-filter = Filtrar las entradas
posts-lede = Las entradas de todos los blogs, con los borradores y las programadas. Las eliminadas no aparecen.
posts-no-match = Ninguna entrada coincide
posts-none = Todavía no hay entradas

# Registrations for a meeting.
problem-person-unknown = Ninguna persona de la organización tiene este alias o identificador.
registered-add = Inscribir a una persona
registered-add-button = Inscribir
registered-added = Inscripción guardada: { $name }.
registered-count = { $count ->
    [one] 1 persona inscrita
   *[other] { $count } personas inscritas
}
registered-lede = Las personas inscritas ven el encuentro, aunque sea privado.
registered-none = No hay nadie inscrito
registered-person = Persona
registered-person-hint = Alias o identificador.
registered-remove = Quitar
registered-removed = Inscripción retirada: { $name }.
registered-removed-undo = Para deshacerlo, inscriba de nuevo a la persona.
registered-title = Inscripciones
