# Pages of the content of an organization.
column-id = Id
column-kind = Tipo
column-title = Título
published = Publicado
not-published = Sin publicar
publish = Publicar
unpublish = Retirar de la publicación
publish-back = Para deshacerlo, retírelo de la publicación.
unpublish-back = Los administradores aún lo ven. Para deshacerlo, publíquelo.
untitled = Sin título
visibility = Visibilidad
visibility-public = Público
visibility-public-hint = Todas las personas lo ven y pueden participar.
visibility-transparent = Transparente
visibility-transparent-hint = Todas las personas lo ven, solo los miembros participan. Para asambleas.
visibility-private = Privado
visibility-private-hint = Solo los miembros lo ven y participan. Para procesos y asambleas.

# Spaces.
spaces = Espacios
spaces-caption = Espacios de { $organization }
spaces-filter = Filtrar los espacios
spaces-lede = Procesos, asambleas, conferencias e iniciativas. Primero los más recientes.
spaces-none = Todavía no hay espacios
spaces-no-match = Ningún espacio coincide
spaces-pages = Páginas de espacios
spaces-search = Título o slug
space-participatory-processes = Proceso
space-assemblies = Asamblea
space-conferences = Conferencia
space-initiatives = Iniciativa
space-new = Nuevo espacio
space-new-lede = El espacio no se publica al principio.
space-create = Crear el espacio
space-created = Espacio creado: { $name }.
space-created-next = Todavía no está publicado. Añada componentes y publíquelo.
space-kind-hint = No se puede cambiar después. Solo los procesos tienen etapas.
space-identity = Textos
space-subtitle = Subtítulo
space-short-description = Descripción breve
space-slug = Slug
space-slug-hint = El nombre en los filtros de la interfaz. Único en cada tipo.
space-who = Quién lo ve
space-who-hint = Mientras el espacio no esté publicado, los participantes no lo ven.
space-tabs = Espacio
space-tab-content = Etapas y componentes
space-tab-edit = Textos y visibilidad
space-lede = { $kind }, id { $id }
space-save = Guardar el espacio
space-saved = Espacio guardado: { $name }.
space-published = Espacio publicado: { $name }.
space-unpublished = Espacio retirado de la publicación: { $name }.
problem-slug-of-initiative = Deje este campo vacío: el slug de una iniciativa sale de su número.
problem-visibility = Los espacios de este tipo no pueden tener esta visibilidad.

# Steps of processes.
step = Etapa
steps = Etapas
steps-none = Todavía no hay etapas
steps-none-lede = Las etapas cambian lo que es posible en los componentes del proceso.
steps-dates-hint = Las fechas son informativas: una etapa pasa a estar activa cuando alguien la activa.
step-add = Añadir una etapa
step-place = Etapa { $place }
step-active = Etapa activa
step-active-now = activa
step-is-active = Activa
step-is-past = Pasada
step-is-coming = Todavía no
step-none-active = ninguna activa
step-from = desde el { $date }
step-until = hasta el { $date }
step-undated = sin fechas
step-new = Nueva etapa
step-new-lede = La etapa no está activa al principio.
step-create = Crear la etapa
step-created = Etapa creada: { $name }.
step-save = Guardar la etapa
step-saved = Etapa guardada: { $name }.
step-order = Lugar entre las etapas
step-order-hint = 1: la primera
step-dates = Fechas
step-starts = Comienza
step-ends = Termina
problem-time = Escriba una fecha con hora.
problem-step-active = La etapa activa no se puede eliminar. Active primero otra.
step-activate = Activar…
step-activate-button = Activar la etapa
step-activate-title = ¿Activar { $name }?
step-activate-ends = { $name } deja de ser la etapa activa
step-activate-component = { $name }: { $changes }
step-activate-nothing = Ningún componente tiene otra configuración en esta etapa
step-activate-receivers = { $count ->
    [one] 1 registro de webhook recibe el evento
   *[other] { $count } registros de webhook reciben el evento
}
step-activate-stays = Las propuestas, los votos y los demás registros quedan como están. Más tarde se puede activar otra etapa; es un evento nuevo.
step-activated = Etapa activa: { $name }.
step-activated-text = { $components }, { $registrations }.
components-changed = { $count ->
    [one] Ha cambiado la configuración de 1 componente
   *[other] Ha cambiado la configuración de { $count } componentes
}
registrations-receive = { $count ->
    [one] 1 registro de webhook recibe el evento
   *[other] { $count } registros de webhook reciben el evento
}
step-already-active = { $name } ya es la etapa activa. No se ha cambiado nada.
step-delete-lede = La configuración de los componentes para esta etapa desaparece con ella.
step-delete-effect = La etapa se quita del proceso
step-delete-components = { $count ->
    [one] 1 componente pierde su configuración para la etapa
   *[other] { $count } componentes pierden su configuración para la etapa
}
step-delete-stays = La etapa no está activa: nada cambia para los participantes.
step-delete-button = Eliminar la etapa
step-deleted = Etapa eliminada: { $name }.

# Components.
components = Componentes
components-caption = Componentes de { $space } en su orden
components-none = Todavía no hay componentes
components-none-lede = Un componente contiene propuestas, encuentros, entradas u otros registros del espacio.
component-add = Añadir un componente
component-new-type = Tipo del nuevo componente
component-type = Tipo
component-id = id { $id }
component-records = Registros
component-in-step = En la etapa { $step }
component-now = Ahora
component-same = igual en todas las etapas
component-defaults = configuración predeterminada
component-pages = Página
component-proposals = Propuestas
component-meetings = Encuentros
component-budgets = Presupuestos
component-surveys = Encuesta
component-accountability = Rendición de cuentas
component-debates = Debates
component-blogs = Blog
component-awesome-map = Mapa
component-awesome-iframe = Marco
component-new = Nuevo componente: { $kind }
component-new-lede = El componente no se publica al principio.
component-create = Crear el componente
component-created = Componente creado: { $name }.
component-created-next = Todavía no está publicado.
component-lede = Componente { $id }. La configuración guardada se aplica desde la próxima solicitud.
component-published = Componente publicado: { $name }.
component-unpublished = Componente retirado de la publicación: { $name }.
component-delete-lede = El componente y sus registros desaparecen de la interfaz al instante.
component-delete-effect = El componente desaparece de la interfaz al instante
component-delete-records = { $count ->
    [one] 1 registro que contiene desaparece con él
   *[other] { $count } registros que contiene desaparecen con él
}
component-delete-many-records = Más de { $count } registros que contiene desaparecen con él
component-delete-stays = El espacio y sus demás componentes quedan.
component-delete-name = Escriba el nombre del componente para confirmar
component-delete-button = Eliminar el componente
component-deleted = Componente eliminado: { $name }.

# Settings of components.
component-section-name = Nombre y anuncio
component-section-phases = Qué es posible en cada etapa
component-section-phases-hint = La columna de la etapa activa se aplica ahora. «Sin etapas» se aplica mientras ninguna etapa esté activa.
component-section-writing = Escribir propuestas
component-section-voting = Votación
component-section-registration = Inscripción
component-section-other = Comentarios y orden
component-setting = Ajuste
component-without-steps = Sin etapas
setting-in-step = { $setting } – { $step }
setting-becomes = { $setting } → { $value }
setting-is-off = { $setting }: no
problem-setting = Escriba 0 o más, o elija uno de los valores ofrecidos.
component-setting-scopes-enabled = Ámbitos
component-setting-global-announcement = Anuncio
component-setting-global-announcement-hint = Se muestra sobre los registros. Vacío: ninguno.
component-setting-default-registration-terms = Condiciones de inscripción
component-setting-default-registration-terms-hint = Para encuentros sin condiciones propias.
component-setting-comments-enabled = Comentarios
component-setting-comments-max-length = Comentario más largo
component-setting-comments-max-length-hint = En caracteres. Vacío: como la organización
component-setting-registration-code-enabled = Códigos de inscripción
component-setting-creation-enabled-for-participants = Los participantes pueden crear encuentros
component-setting-creation-enabled-for-participants-hint = Lo leen los clientes de la interfaz.
component-setting-amendments-enabled = Enmiendas
component-setting-attachments-allowed = Adjuntos
component-setting-default-sort-order = Orden de las propuestas
component-setting-default-sort-order-default = Predeterminado
component-setting-default-sort-order-random = Aleatorio
component-setting-default-sort-order-recent = Primero las más recientes
component-setting-default-sort-order-most-voted = Más votos
component-setting-default-sort-order-most-endorsed = Más apoyadas
component-setting-default-sort-order-most-commented = Más comentarios
component-setting-default-sort-order-most-followed = Más seguidas
component-setting-default-sort-order-with-more-authors = Más autores
component-setting-default-sort-order-automatic = Automático
component-setting-geocoding-enabled = Lugares en un mapa
component-setting-minimum-votes-per-user = Votos necesarios antes de contar
component-setting-minimum-votes-per-user-hint = 0: cada uno cuenta al instante
component-setting-official-proposals-enabled = Propuestas oficiales de la organización
component-setting-participatory-texts-enabled = Textos participativos
component-setting-proposal-edit-time = Los autores pueden editar
component-setting-proposal-edit-time-limited = Unos minutos después de publicar
component-setting-proposal-edit-time-infinite = En cualquier momento
component-setting-proposal-edit-before-minutes = Minutos para editar
component-setting-proposal-edit-before-minutes-hint = Después de publicar, si el tiempo es limitado
component-setting-proposal-limit = Propuestas por persona
component-setting-proposal-limit-hint = 0: sin límite
component-setting-proposal-length = Texto más largo
component-setting-proposal-length-hint = En caracteres
component-setting-resources-permissions-enabled = Permisos por propuesta
component-setting-threshold-per-proposal = Votos que puede tener una propuesta
component-setting-threshold-per-proposal-hint = 0: sin límite
component-setting-vote-limit = Votos por persona
component-setting-vote-limit-hint = 0: sin límite
component-setting-awesome-voting-manifest = Tipo de voto
component-setting-awesome-voting-manifest-none = Un voto por propuesta
component-setting-awesome-voting-manifest-voting-cards = Tarjetas: roja, amarilla, verde
component-setting-voting-cards-show-abstain = Es posible abstenerse
component-setting-voting-cards-show-modal-help = Explicar las tarjetas antes del primer voto
component-setting-voting-cards-box-title = Título de las tarjetas
component-setting-voting-cards-instructions = Instrucciones de las tarjetas
component-setting-can-accumulate-votes-beyond-threshold = Se aceptan votos por encima
component-setting-votes-enabled = La votación está abierta
component-setting-votes-enabled-hint = Los participantes ven los votos y pueden votar
component-setting-creation-enabled = Se pueden publicar propuestas
component-setting-proposal-answering-enabled = Se puede responder a las propuestas
component-setting-amendment-creation-enabled = Se pueden escribir enmiendas
component-setting-amendment-reaction-enabled = Se pueden aceptar enmiendas
component-setting-amendment-promotion-enabled = Las enmiendas pueden convertirse en propuestas
component-setting-endorsements-enabled = Apoyos
component-setting-votes-blocked = La votación está cerrada pero se muestra
component-setting-votes-blocked-hint = Nadie puede votar ni retirar un voto
component-setting-votes-enabled-by-status = Solo se pueden votar las propuestas en los estados de abajo
component-setting-votes-enabled-by-status-hint = Sin estados abajo, no se puede votar ninguna
component-setting-votes-enabled-states = Estados que se pueden votar
component-setting-votes-enabled-states-hint = Un identificador por línea: not_answered, evaluating, accepted, rejected, o un estado del componente
