# Start page.
attention = Pendiente
attention-badge-failed = Fallo
attention-badge-locked = Bloqueo
attention-badge-stopped = Detenido
attention-badge-unknown = Desconocido
attention-badge-waiting = En espera
attention-look = Consultar
attention-none = No hay nada pendiente. Comprobado el { $time }.
attention-unknown = Esto no se ha podido comprobar
attention-disabled-registrations = { $count ->
    [one] 1 suscripción de webhook está desactivada
   *[other] { $count } suscripciones de webhook están desactivadas
}
attention-disabled-registrations-text = Sus destinos fallan desde hace más de tres días o han respondido que ya no existen. Sus eventos no se ponen en cola.
attention-paused-registrations = { $count ->
    [one] 1 suscripción de webhook está en pausa
   *[other] { $count } suscripciones de webhook están en pausa
}
attention-paused-registrations-text = La administración las puso en pausa. Sus envíos esperan, como máximo 30 días.
attention-failed-jobs = { $count ->
    [one] 1 tarea ha fallado en las últimas 24 horas
   *[other] { $count } tareas han fallado en las últimas 24 horas
}
attention-failed-jobs-text = El cliente de cada tarea lee allí el motivo.
attention-dead-deliveries = { $count ->
    [one] 1 envío se ha abandonado
   *[other] { $count } envíos se han abandonado
}
attention-dead-deliveries-text = Todos los intentos han fallado. Se pueden repetir.
attention-waiting-deliveries = { $count ->
    [one] 1 envío espera desde hace más de una hora
   *[other] { $count } envíos esperan desde hace más de una hora
}
attention-waiting-deliveries-text = Sus destinos no responden, o hay más envíos de los que los ejecutores pueden enviar.
attention-failed-mails = { $count ->
    [one] 1 correo no se ha podido enviar todavía
   *[other] { $count } correos no se han podido enviar todavía
}
attention-failed-mails-text = Se vuelve a intentar. El log contiene las respuestas del servidor de correo.
attention-pending-hosts = { $count ->
    [one] 1 host nuevo no está confirmado
   *[other] { $count } hosts nuevos no están confirmados
}
attention-pending-hosts-text = Los registros DNS del host nuevo aún no apuntan aquí. Hasta entonces se mantiene el host actual, y un host secundario nuevo es desconocido.
attention-locked-people = { $count ->
    [one] 1 cuenta de administración de una organización está bloqueada
   *[other] { $count } cuentas de administración de organizaciones están bloqueadas
}
attention-locked-people-text = Demasiados inicios de sesión fallidos. El bloqueo termina solo.
figures = Cifras
figure-components = Componentes
figure-jobs = Tareas, 24 horas
figure-proposals = Propuestas
figure-spaces = Espacios
figure-votes = Votos
recent = Cambios recientes
recent-none = Todavía no se ha cambiado nada.
start-lede = { $count ->
    [one] { $date }. Un asunto requiere su atención.
   *[other] { $date }. { $count } asuntos requieren su atención.
}

# API clients.
client-card = Cliente
client-create = Crear el cliente
client-created-next = Todavía no se ha concedido nada: elija sus permisos a continuación.
client-fixed = El nombre, la organización y los alcances son fijos. Para otros alcances, cree un cliente nuevo y revoque este.
client-fixed-later = Fijo una vez creado el cliente.
client-get-token = Obtener un token
client-get-token-hint = Para el propio cliente
client-held = { $abilities ->
    [one] 1 derecho
   *[other] { $abilities } derechos
} y { $events ->
    [one] 1 evento
   *[other] { $events } eventos
}
client-id = Identificador del cliente
client-last-token = Último token
client-name-hint = Quién lo usa y para qué, por ejemplo «Riverton mobile app».
client-new = Nuevo cliente de API
client-new-lede = El secreto se muestra en la página siguiente. Allí se eligen los permisos.
client-one = Cliente de API
client-organization-hint = Decide qué alcances se ofrecen.
client-public-always = El alcance public siempre está incluido: espacios y componentes.
client-revoke = Revocar
client-scopes = Alcances
client-scopes-content = Contenido
client-scopes-hint = Limitan lo que el cliente puede hacer y no se pueden cambiar más tarde.
client-scopes-others = Personas y programas
client-secret = Secreto del cliente
client-secret-and-revocation = Secreto y revocación
client-secret-kept = Almacenado como hash, mostrado una sola vez
client-secret-lede = Renovar crea un secreto nuevo; el antiguo ya no obtiene tokens nuevos y los ya emitidos siguen siendo válidos. Revocar elimina el cliente con sus tokens, permisos y webhooks.
client-tab-details = Detalles
client-tab-permissions = Permisos
client-tab-webhooks = Webhooks
client-use = Uso
client-valid-tokens = Tokens válidos ahora
clients-caption = Clientes de API, de más reciente a más antiguo
clients-filter = Filtrar clientes de API
clients-lede = Programas que usan la interfaz. Cada uno tiene un identificador y un secreto, pertenece a una organización y puede hacer lo que dicen sus alcances y permisos.
clients-none = No hay clientes de API
clients-pages = Páginas de clientes de API
clients-search = Nombre o identificador del cliente
revoke-button = Revocar el cliente
revoke-link = Revocar el cliente…
revoke-name = Escriba el nombre del cliente para confirmar
revoke-permissions = Se retiran { $held }
revoke-registrations = { $count ->
    [0] No se elimina ninguna suscripción de webhook
    [one] Se elimina 1 suscripción de webhook con sus envíos
   *[other] Se eliminan { $count } suscripciones de webhook con sus envíos
}
revoke-stays = Lo que el cliente escribió (propuestas, entradas, votos) se mantiene.
revoke-title = ¿Revocar { $name }?
revoke-tokens = { $count ->
    [0] Ningún token es válido ahora
    [one] 1 token válido deja de funcionar
   *[other] { $count } tokens válidos dejan de funcionar
}
rotate-button = Renovar el secreto
rotate-done = El cliente tiene un secreto nuevo.
rotate-effect = El secreto actual ya no obtiene tokens nuevos. Los programas que lo usan necesitan el nuevo.
rotate-here = Renovar el secreto
rotate-link = Renovar el secreto…
rotate-stays = { $count ->
    [0] Ningún token es válido ahora.
    [one] 1 token ya emitido sigue siendo válido hasta que termina.
   *[other] { $count } tokens ya emitidos siguen siendo válidos hasta que terminan.
}
rotate-title = ¿Renovar el secreto de { $name }?

# Permissions.
granted-of = { $granted } de { $all } concedidos
permissions-note = Lo marcado se aplica desde la siguiente solicitud, también a los tokens ya emitidos. Quitar un evento conserva las suscripciones de webhook y detiene sus envíos de ese evento. Un alcance cuya función ha desactivado la organización no aparece.
permissions-replace = Reemplaza todo el conjunto: lo que no está marcado se retira.
permissions-save = Guardar los permisos
permissions-saved = Permisos guardados.
scope-any = funciona con cualquier alcance
scope-auth-type = Inicio de sesión de personas
scope-accountability = Resultados
scope-attachments = Archivos adjuntos
scope-blogs = Entradas de blog
scope-budgets = Presupuestos
scope-debates = Debates
scope-meetings = Encuentros
scope-oauth = Personas
scope-pages = Páginas: todavía sin operaciones
scope-proposals = Propuestas
scope-public = Espacios y componentes
scope-roles = Roles de personas
scope-spaces = Espacios: todavía sin operaciones
scope-surveys = Cuestionarios y respuestas
scope-system = Configuración de la organización
scope-webhooks = Webhooks
group-answers = Respuestas
group-auth-type = Tipo de autenticación
group-components = Componentes
group-events = Eventos de webhook
group-events-hint = Eventos a los que el cliente de API puede suscribirse
group-extended-data = Datos extendidos
group-links = Enlaces de inicio de sesión
group-operations = Operaciones
group-organizations = Organizaciones
group-people = Personas
group-questionnaires = Cuestionarios
group-server = Servidor
group-spaces = Espacios
ability-oauth-impersonate = Actuar en nombre de cualquier participante
ability-oauth-login = Iniciar la sesión de personas con su contraseña
ability-oauth-read = Listar personas
ability-oauth-magic-link = Crear enlaces de inicio de sesión
ability-oauth-extended-data-read = Leer
ability-oauth-extended-data-update = Escribir
ability-system-organizations-read = Leer organizaciones
ability-system-organizations-update = Cambiar la configuración
ability-system-organizations-destroy = Eliminar organizaciones: todavía sin operaciones
ability-system-organizations-create = Crear organizaciones: todavía sin operaciones
ability-system-organizations-extended-data-read = Leer
ability-system-organizations-extended-data-update = Escribir
ability-system-users-update = Cambiar personas: todavía sin operaciones
ability-system-users-destroy = Eliminar personas: todavía sin operaciones
ability-system-server-restart = Reiniciar el servidor: todavía sin operaciones
ability-system-server-exec = Ejecutar comandos: todavía sin operaciones
ability-public-component-read = Leer componentes
ability-public-component-extended-data-read = Leer para componentes
ability-public-component-extended-data-update = Escribir para componentes
ability-public-space-read = Leer espacios
ability-public-space-extended-data-read = Leer para espacios
ability-public-space-extended-data-update = Escribir para espacios
ability-proposals-read = Leer propuestas y votos
ability-proposals-draft = Escribir y publicar borradores
ability-proposals-vote = Votar y retirar un voto
ability-proposals-extended-data-read = Leer
ability-proposals-extended-data-update = Escribir
ability-blogs-read = Leer entradas
ability-blogs-write = Escribir entradas
ability-blogs-destroy = Eliminar entradas
ability-meetings-read = Leer encuentros
ability-meetings-extended-data-read = Leer
ability-meetings-extended-data-update = Escribir
ability-surveys-read = Leer cuestionarios y preguntas
ability-surveys-questionnaires-read = Leer cuestionarios
ability-surveys-questions-manage = Cambiar cuestionarios y preguntas
ability-surveys-answers-submit = Enviar respuestas
ability-surveys-answers-read = Leer respuestas
ability-surveys-answers-destroy = Eliminar respuestas
ability-debates-read = Leer debates: todavía sin operaciones
ability-budgets-read = Leer presupuestos: todavía sin operaciones
ability-accountability-read = Leer resultados: todavía sin operaciones
ability-roles-read = Leer roles
ability-roles-write = Dar, cambiar y quitar roles
ability-attachments-read = Leer archivos adjuntos
ability-attachments-write = Subir y editar
ability-attachments-destroy = Eliminar archivos adjuntos
ability-webhooks-read = Leer suscripciones
ability-webhooks-write = Crear y cambiar suscripciones
ability-webhooks-destroy = Eliminar suscripciones
ability-draft-proposal-creation-succeeded = Se crea un borrador
ability-draft-proposal-update-succeeded = Un borrador cambia
ability-proposal-creation-succeeded = Se publica una propuesta
ability-proposal-update-succeeded = Se edita una propuesta publicada
ability-proposal-state-change-succeeded = Una propuesta cambia de estado
ability-meetings-upcoming-reminder-succeeded = 48 horas antes de un encuentro
ability-participatory-process-step-activated-succeeded = Una etapa pasa a ser la activa
ability-system-organizations-created = Se crea una organización
ability-system-organizations-updated = Una organización cambia
ability-system-organizations-deleted = Se elimina una organización
ability-user-created = Se crea una cuenta
ability-user-updated = Una cuenta cambia

# Webhook registrations of a client.
not-granted = ya no concedido, no se envía
registration-address = Dirección
registration-address-hint = http o https, accesible desde internet. Cada evento se envía aquí como un POST firmado.
registration-create = Crear la suscripción
registration-delete-button = Eliminar la suscripción
registration-delete-effect = No se envían más eventos a esta dirección
registration-delete-log = Se eliminan sus envíos, realizados y en espera
registration-delete-stays = El cliente conserva sus permisos.
registration-delete-title = ¿Eliminar la suscripción?
registration-deleted = Suscripción eliminada.
registration-delivering = En servicio
registration-disabled = Desactivada
registration-disabled-why = { $count ->
    [one] desde el { $date }: 1 fallo
   *[other] desde el { $date }: { $count } fallos
}
registration-enable = Reactivar
registration-events = Eventos
registration-events-hint = Solo los eventos concedidos en la pestaña Permisos.
registration-failing = Con fallos
registration-failing-why = { $count ->
    [one] 1 fallo desde el { $date }
   *[other] { $count } fallos seguidos desde el { $date }
}
registration-new = Nueva suscripción
registration-no-events = El cliente no puede recibir todavía ningún evento. Conceda primero eventos en la pestaña Permisos.
registration-pause = Poner en pausa
registration-paused = En pausa
registration-secret = Secreto de firma
registration-secret-next = El secreto de firma se muestra una sola vez, en la página siguiente.
registration-test = Enviar una prueba
registrations = Suscripciones
registrations-of = Suscripciones de webhook de { $name }

# Organizations.
api-enabled-hint = Cuando está desactivada, todas las operaciones de esta organización responden 501, también con token, y no se envían webhooks. Este panel no se ve afectado.
module-accountabilities = Seguimiento
module-accountabilities-hint = Solo alcance
module-attachments = Archivos adjuntos
module-attachments-hint = Archivos y enlaces
module-blogs = Blogs
module-blogs-hint = Entradas
module-budgets = Presupuestos
module-budgets-hint = Solo alcance
module-debates = Debates
module-debates-hint = Solo alcance
module-forms = Formularios
module-forms-hint = Cuestionarios, preguntas, respuestas
module-meetings = Encuentros
module-meetings-hint = Encuentros
module-proposals = Propuestas
module-proposals-hint = Propuestas, borradores, votos
module-surveys = Encuestas
module-surveys-hint = Solo alcance, sin operaciones propias
modules-hint = Mientras la REST API está desactivada, los módulos conservan sus valores, se marque lo que se marque aquí.
modules-lede = Un módulo desactivado responde 501. Lo almacenado se mantiene y vuelve cuando se activa de nuevo.
modules-legend = Módulos
organization-allowlist = Hosts permitidos para los enlaces de inicio de sesión
organization-allowlist-hint = Uno por línea, nombres exactos. Los hosts de la organización siempre están permitidos.
organization-api-off = API desactivada
organization-base = Dirección de la interfaz
organization-comments = Longitud máxima de un comentario
organization-comments-hint = En caracteres. Los componentes pueden fijar la suya.
organization-create = Crear la organización
organization-created = { $name }: organización creada.
organization-delete-button = Eliminar la organización
organization-delete-clients = { $count ->
    [0] No se elimina ningún cliente de API
    [one] Se elimina 1 cliente de API con sus tokens y webhooks
   *[other] Se eliminan { $count } clientes de API con sus tokens y webhooks
}
organization-delete-host = { $host } no responde a más solicitudes
organization-delete-lede = Elimina la organización con sus espacios, personas, votos, archivos y clientes de API. Esta acción no se puede deshacer.
organization-delete-name = Escriba el nombre de la organización para confirmar
organization-delete-people = { $count ->
    [0] No se elimina ninguna cuenta
    [one] Se elimina 1 cuenta con sus propuestas y votos
   *[other] Se eliminan { $count } cuentas con sus propuestas y votos
}
organization-delete-spaces = { $count ->
    [0] No se elimina ningún espacio
    [one] Se elimina 1 espacio con todo su contenido
   *[other] Se eliminan { $count } espacios con todo su contenido
}
organization-delete-stays = El registro de auditoría y los eventos ya enviados se mantienen. Exporte antes la organización si puede volver a hacer falta.
organization-deleted = { $name }: organización eliminada.
organization-dns-cancel = Para cancelar el cambio, escriba el host actual y guarde.
organization-dns-hint = Registros DNS de un host, uno por línea:
organization-dns-see = Ver los registros DNS
organization-dns-wanted = Estos registros DNS deben existir para el host nuevo. Hasta entonces se mantiene el host actual.
organization-files = Archivos y enlaces
organization-fine = en orden
organization-host = Host principal
organization-host-hint = Ahora { $host }. Un host nuevo lo reemplaza en cuanto sus registros DNS apuntan aquí; el antiguo deja entonces de funcionar.
organization-host-new-hint = Un nombre con un punto, por ejemplo participate.city.example. Sus registros DNS deben apuntar aquí.
organization-host-pending = Host en espera
organization-host-waiting = { $new } espera para reemplazar a { $now }
organization-hosts = Nombres de host
organization-hosts-hint = El host principal determina la organización. Los hosts secundarios llevan a él.
organization-identity = Nombre y descripción
organization-identity-hint = Visibles para participantes y en la interfaz.
organization-interface = Interfaz
organization-languages = Idiomas ofrecidos
organization-languages-and-time = Idiomas y hora
organization-largest-file = Tamaño máximo de un archivo
organization-largest-file-hint = En bytes. 10485760 son 10 MB.
organization-main-language = Idioma principal
organization-main-language-hint = El nombre debe tener un texto en este idioma.
organization-new = Nueva organización
organization-new-lede = Escriba un nombre y un host. Todo lo demás se puede cambiar más tarde.
organization-people-hint = Cómo obtienen una cuenta las personas.
organization-prefix = Prefijo de las referencias
organization-prefix-hint = Inicio de las referencias de los recursos y de los nombres de los archivos subidos.
organization-registration = Registro
organization-secondary = Hosts secundarios
organization-secondary-hint = Uno por línea. Sus solicitudes se redirigen (301) al host principal.
organization-secondary-waiting = Sin confirmar, y desconocidos hasta que sus registros DNS apunten aquí: { $hosts }. Para confirmar uno de inmediato, quítelo, guarde y vuelva a escribirlo.
organization-tab-api = REST API
organization-tab-settings = Configuración
organization-tabs = Configuración de la organización
organization-time-zone = Zona horaria
organization-views = Textos y presentación
organizations-caption = Organizaciones por nombre
organizations-filter = Filtrar organizaciones
organizations-lede = Cada organización es accesible en su propio host y solo ve sus propios datos.
organizations-none = No hay organizaciones
organizations-pages = Páginas de organizaciones
organizations-search = Nombre o host
registration-mode-disabled = Nadie
registration-mode-disabled-hint = Solo los clientes de API crean cuentas.
registration-mode-enabled = Cualquier persona puede registrarse
registration-mode-enabled-hint = Las personas crean sus propias cuentas.
registration-mode-existing = Solo cuentas existentes
registration-mode-existing-hint = Quien tiene una cuenta puede iniciar sesión; nadie más puede registrarse.
setting-badges-enabled = Insignias
setting-enable-machine-translations = Traducciones automáticas
setting-enable-machine-translations-hint = No hay ningún servicio de traducción configurado en este despliegue.
setting-enable-participatory-space-filters = Filtros por área y ámbito
setting-force-users-to-authenticate-before-access-organization = Hay que iniciar sesión para leer
setting-rich-text-editor-in-public-views = Editor de texto enriquecido para participantes
setting-send-welcome-notification = Las personas nuevas reciben un correo de bienvenida
setting-user-groups-enabled = Grupos de personas
settings-save = Guardar la configuración
settings-saved = Configuración guardada.
settings-together = Todos los campos se guardan juntos, o ninguno.

# Administrators.
admin-account = Cuenta
admin-account-hint = Las cuentas de administración del sistema pueden abrir todas las páginas de este panel.
admin-active = Activa
admin-create = Crear la cuenta de administración
admin-created = { $email }: cuenta de administración creada.
admin-delete-button = Eliminar la cuenta de administración
admin-delete-effect = La cuenta ya no puede iniciar sesión
admin-delete-sessions = Sus sesiones terminan de inmediato
admin-delete-stays = El registro de auditoría conserva lo que hizo la cuenta.
admin-deleted = { $email }: cuenta de administración eliminada.
admin-last-sign-in = Último inicio de sesión
admin-locked = Bloqueada para algunas direcciones
admin-locked-until = hasta el { $time }
admin-new = Nueva cuenta de administración
admin-no-password = Sin contraseña
admin-save = Guardar la cuenta de administración
admin-saved = { $email }: cuenta guardada.
admin-unlocked = { $email }: cuenta desbloqueada.
admin-you = usted
admins-caption = Cuentas de administración del sistema por correo electrónico
admins-lede = Cuentas de este panel. No pertenecen a ninguna organización.
