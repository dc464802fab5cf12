# The audit trail.
audit-action = Acción
audit-caption = Registro de auditoría, de más reciente a más antiguo
audit-changes = Qué ha cambiado
audit-count = { $count ->
    [one] 1 cambio
   *[other] { $count } cambios
}
audit-filter = Filtrar el registro de auditoría
audit-lede = Quién cambió qué y cuándo. Las entradas no se modifican nunca; nunca contienen secretos ni contraseñas.
audit-none = No hay entradas
audit-on = Objeto
audit-pages = Páginas del registro de auditoría
audit-search = Quién actuó, o sobre qué
audit-time = Hora
audit-who = Quién
audit-with = Medio
actor-administrator = panel
actor-client = cliente de API
actor-command-line = línea de comandos
actor-archive = archivo de datos
actor-anonymous = origen desconocido
actor-for = { $kind }, en nombre de { $name }
action-api-client-created = Cliente de API creado
action-api-client-updated = Cliente de API renombrado
action-api-client-permissions-replaced = Permisos reemplazados
action-api-client-permissions-granted = Permisos concedidos
action-api-client-permissions-revoked = Permisos retirados
action-api-client-secret-rotated = Secreto renovado
action-api-client-revoked = Cliente de API revocado
action-webhook-registration-created = Suscripción de webhook creada
action-webhook-registration-updated = Suscripción de webhook modificada
action-webhook-registration-deleted = Suscripción de webhook eliminada
action-webhook-registration-paused = Suscripción de webhook en pausa
action-webhook-registration-resumed = Suscripción de webhook reanudada
action-webhook-registration-tested = Prueba enviada a un webhook
action-webhook-delivery-replayed = Envíos repetidos
action-organization-created = Organización creada
action-organization-updated = Organización modificada
action-organization-deleted = Organización eliminada
action-organization-host-check-started = Comprobación del host iniciada
action-administrator-created = Cuenta de administración creada
action-administrator-updated = Cuenta de administración modificada
action-administrator-password-changed = Contraseña de una cuenta de administración cambiada
action-administrator-deleted = Cuenta de administración eliminada
action-administrator-locked = Cuenta de administración bloqueada
action-administrator-unlocked = Cuenta de administración desbloqueada
action-administrator-second-factor-enabled = Segundo factor activado
action-administrator-second-factor-disabled = Segundo factor desactivado
action-sign-in-succeeded = Inicio de sesión
action-sign-in-refused = Inicio de sesión rechazado
action-sign-in-locked = Inicio de sesión rechazado porque su origen está rechazado
action-sign-out = Cierre de sesión
action-credentials-refused = Credenciales de un cliente rechazadas
action-secret-shown = Secreto mostrado
action-role-created = Rol creado
action-role-updated = Rol modificado
action-role-deleted = Rol eliminado
action-user-created = Persona creada
action-user-updated = Persona modificada
action-user-deleted = Persona eliminada
action-user-confirmed = Persona confirmada
action-user-blocked = Persona bloqueada
action-user-unblocked = Persona desbloqueada
action-user-locked = Acceso de una persona bloqueado
action-user-unlocked = Acceso de una persona desbloqueado
action-user-impersonated = Identidad de un administrador general tomada por un cliente
action-magic-link-created = Enlace mágico creado para un administrador general
action-space-created = Espacio creado
action-space-updated = Espacio modificado
action-space-deleted = Espacio eliminado
action-step-created = Etapa creada
action-step-updated = Etapa modificada
action-step-activated = Etapa activada
action-step-deleted = Etapa eliminada
action-component-created = Componente creado
action-component-updated = Componente modificado
action-component-deleted = Componente eliminado
action-proposal-created = Propuesta creada
action-proposal-updated = Propuesta modificada
action-proposal-published = Propuesta publicada
action-proposal-answered = Propuesta respondida
action-proposal-hidden = Propuesta ocultada
action-proposal-shown = Propuesta mostrada de nuevo
action-proposal-withdrawn = Propuesta retirada
action-proposal-deleted = Propuesta eliminada
action-meeting-created = Encuentro creado
action-meeting-updated = Encuentro modificado
action-meeting-deleted = Encuentro eliminado
action-post-created = Entrada creada
action-post-updated = Entrada modificada
action-post-deleted = Entrada eliminada
action-survey-created = Encuesta creada
action-survey-updated = Encuesta modificada
action-survey-deleted = Encuesta eliminada
action-responses-exported = Respuestas exportadas
action-attachment-created = Archivo adjunto creado
action-attachment-updated = Archivo adjunto modificado
action-attachment-deleted = Archivo adjunto eliminado
action-extended-data-updated = Datos extendidos modificados
action-job-deleted = Tarea eliminada
action-archive-imported = Archivo de datos importado
action-archive-exported = Archivo de datos exportado
action-backup-made = Copia de seguridad creada
action-backup-restored = Base de datos restaurada desde una copia de seguridad
action-key-reencrypted = Secretos cifrados de nuevo
action-key-rotated = Clave secreta sustituida

# Jobs.
deleted = ya no existe
history = Historial
job-accepted = Aceptada
job-accepted-note = respuesta 202, tarea almacenada
job-code = Código
job-command = Comando
job-completed = Terminada
job-completed-lede = La escritura está hecha.
job-delete-button = Eliminar la tarea
job-delete-client = El cliente ya no puede leer su resultado
job-delete-ended = Lo que ha hecho la tarea se mantiene
job-delete-link = Eliminar la tarea…
job-delete-pending = La tarea no se ejecuta nunca
job-delete-processing = La tarea que se ejecuta ahora tiene efecto de todos modos
job-delete-title = ¿Eliminar la tarea?
job-deleted = Tarea eliminada.
job-failed = Fallo
job-failed-lede = La escritura se ha rechazado o no se ha podido hacer: no se ha cambiado nada. Una tarea fallida no se ejecuta de nuevo.
job-field = Campo
job-for = Para
job-for-client = el propio cliente (token de servicio)
job-id = Identificador de la tarea
job-no-token = El token de la solicitud no se almacena nunca.
job-one = Tarea
job-pending = En espera
job-pending-lede = La tarea espera un ejecutor.
job-processing = En curso
job-processing-lede = Un ejecutor procesa la tarea ahora.
job-request = Solicitud
job-result = Resultado
job-seen = Visto por el cliente
job-seen-lede = El cliente lee el mismo resultado, sin token, en
job-starts = Inicios
job-starts-note = inicio { $starts } de { $most } como máximo
job-text = Texto
job-wrong = Qué estaba mal
jobs-caption = Tareas, de más reciente a más antigua
jobs-filter = Filtrar tareas
jobs-lede = Escrituras que los clientes enviaron sin /sync. Un ejecutor las procesa una sola vez.
jobs-none = No hay tareas
json-cut = Solo se muestran los primeros 64 KiB.
log-pages = Más recientes y más antiguos

# Deliveries and registrations.
deliveries-caption = Envíos, los más recientes primero
deliveries-filter = Filtrar los envíos
deliveries-lede = Eventos en camino hacia las suscripciones webhook de los clientes de API.
deliveries-none = No hay envíos
delivery-answer = Respuesta del receptor
delivery-attempt = Intento { $number }
delivery-attempts = Intentos
delivery-dead = Abandonado
delivery-delivered = Entregado
delivery-dropped = Descartado
delivery-ended = Terminado
delivery-event = Evento
delivery-event-id = Id del evento
delivery-id = Id del envío
delivery-is-test = una prueba
delivery-next = próximo intento el { $time }
delivery-next-attempt = Próximo intento
delivery-one = Envío
delivery-pending = En espera
delivery-queued = En cola
delivery-reason = Motivo
delivery-registration = Número de la suscripción
delivery-replay = Enviar de nuevo
delivery-replayed = El envío está de nuevo en cola, con el mismo contenido y el mismo id.
delivery-took = { $milliseconds } ms
registration-enabled = La suscripción recibe eventos de nuevo.
registration-is-paused = La suscripción está en pausa. Sus envíos esperan.
registration-no-test = Una suscripción en pausa o desactivada no recibe pruebas. Actívela primero.
registration-one = Suscripción
registration-tested = Una prueba está en camino.
registrations-active = Activas
registrations-caption = Suscripciones webhook de todos los clientes de API
registrations-disabled = Desactivadas
registrations-filter = Filtrar las suscripciones
registrations-lede = Direcciones que los clientes de API registraron para eventos, con los envíos que aún se conservan.
registrations-pages = Páginas de suscripciones
registrations-paused = En pausa
registrations-search = Dirección o nombre del cliente

# Find.
find-hint = Correo de una cuenta de administración, host, id de cliente, de tarea o de envío
find-none = No se ha encontrado nada
find-none-lede = Ninguna ficha tiene exactamente este identificador.

# Mails that wait.
nav-mails = Cola de correo
mails-lede = Correos que todavía no se han enviado. Los que se abandonan tras ocho intentos no se conservan; el log del servidor los contiene.
mails-caption = Correos en espera, los más recientes primero
mails-filter = Filtrar los correos
mails-none = Ningún correo en espera
mails-none-text = Todos los correos se han enviado o abandonado.
mails-retried = Nuevo intento
mails-retry = Reintentar todos ahora
mails-are-retried = { $count ->
    [0] Ningún correo esperaba otro intento.
    [one] 1 correo se envía ahora.
   *[other] { $count } correos se envían ahora.
}
mail-one = Correo
mail-queued = En cola
mail-confirmation = Confirmación de una dirección
mail-welcome = Bienvenida
mail-invitation = Invitación a un rol
mail-notice = Inicios de sesión rechazados
mail-to-account = a la cuenta { $number }
mail-to-invited = a la dirección invitada
mail-sending = Enviándose
mail-waiting = En espera
mail-retried = Falló, se reintenta
action-mails-retried = Correos reintentados

# Replaying many deliveries.
deliveries-replay-link = Enviar estos de nuevo…
deliveries-replay-title = ¿Enviar de nuevo?
deliveries-replay-effect = { $count ->
    [0] Ningún envío terminado coincide con estos filtros.
    [one] 1 envío se repite.
   *[other] { $count } envíos se repiten.
}
deliveries-replay-most = Hay más. Repita la operación para el resto.
deliveries-replay-same = Cada uno conserva su id y su contenido, para que el receptor reconozca lo que ya tiene.
deliveries-replay-stays = Los envíos en espera quedan como están.
deliveries-replay-button = Enviar de nuevo
deliveries-replayed = { $count ->
    [0] No se repitió ningún envío.
    [one] 1 envío está de nuevo en cola.
   *[other] { $count } envíos están de nuevo en cola.
}

# What the server needs.
nav-storage = Almacenamiento y salud
storage-all-good = Todo lo que el servidor necesita está ahí.
storage-faults = { $count ->
    [one] 1 comprobación falló.
   *[other] { $count } comprobaciones fallaron.
}
storage-caption = Comprobaciones de lo que el servidor necesita
storage-check = Comprobado
storage-found = Resultado
storage-good = Bien
storage-fault = Fallo
storage-check-configuration = Ajustes
storage-check-open-files = Archivos abiertos
storage-check-storage = Directorio de datos
storage-check-files = Adjuntos
storage-check-secret-key = Clave secreta
storage-check-clock = Reloj
storage-check-schema = Tablas de la base de datos
storage-check-database = Base de datos
storage-check-dns = Hosts y servidor de nombres
storage-check-certificates = Certificados
storage-check-mail = Servidor de correo
storage-check-backups = Copias de seguridad
storage-check-shares = Cuotas
storage-queues = En espera
storage-jobs = Tareas
storage-deliveries = Envíos de webhooks
storage-tasks = Correos y comprobaciones de hosts
storage-database-size = Tamaño de la base de datos
storage-first-accepted = el primero se aceptó el { $time }
storage-first-queued = el primero se puso en cola el { $time }
storage-first-due = el primero está previsto el { $time }

# Cuotas: lo que usan los clientes y las organizaciones.
nav-shares = Cuotas
shares-lede = Lo que un registro, un cliente API y una organización usan al mismo tiempo está limitado, para que los demás mantengan su ritmo. Quien supera su cuota recibe la respuesta 429; a los demás no se les rechaza.
shares-limits = Límites
shares-tenants = En uso, por organización
shares-none = Ninguna organización usa una cuota ahora
shares-one = Cuota
shares-record = Registro
shares-process = Este servidor
shares-used = En uso
shares-refused = Rechazados desde el inicio
share-reads = Lecturas
share-searches = Búsquedas
share-job-streams = Flujos de tareas
share-writes = Escrituras en curso o en espera
share-large-bodies = Solicitudes largas
share-large-answers = Respuestas largas
share-images = Archivos recibidos en examen
share-passwords = Contraseñas en comprobación
share-webhook-requests = Solicitudes de webhooks
share-registrations = Suscripciones de webhooks
share-unattached-files = Archivos que no están adjuntos a nada
share-jobs = Tareas
share-kept-answers = Respuestas guardadas para claves de idempotencia
