# Navigation and frame of the pages.
administration = administración
read-only-lede = Esta plataforma es de solo lectura en este momento: no se puede cambiar nada.
read-only-stored = No se ha guardado nada.
read-only-title = Solo lectura
skip = Ir al contenido
menu = Menú
menu-close = Cerrar el menú
nav-main = Principal
nav-start = Inicio
nav-settings = Configuración
nav-organizations = Organizaciones
nav-api-clients = Clientes de API
nav-admins = Admins
nav-deployment = Despliegue
nav-operations = Operaciones
nav-jobs = Tareas
nav-deliveries = Envíos
nav-registrations = Suscripciones
nav-audit = Registro de auditoría
nav-docs = Doc. de la API
find = Buscar
find-placeholder = Correo, host o identificador
organization = Organización
choose-another = Elegir otra
breadcrumb = Ruta de navegación
sign-out = Cerrar sesión
times-in = Las horas se muestran en { $zone }.

# Words used on many pages.
all = Todo
all-organizations = todas las organizaciones
apply = Aplicar
cancel = Cancelar
choose = Elegir…
copied = Copiado
copy = Copiar
delete = Eliminar
delete-link = Eliminar…
delete-named = Eliminar { $name }…
delete-title = ¿Eliminar { $name }?
description = Descripción
edit = Editar
email = Correo electrónico
from = Desde
html-hint = HTML sencillo.
more-than = Más de { $number }
more-than-title = { $title } (como mínimo)
never = nunca
newest-first = De más reciente a más antiguo
none = ninguno
off = no
on = sí
password = Contraseña
search = Búsqueda
since = desde el { $date }
to = Hasta
unlock = Desbloquear

# Columns.
column-acts = Acciones
column-changed = Último cambio
column-created = Creación
column-languages = Idiomas
column-name = Nombre
column-people = Personas
column-state = Estado

# Lists.
filter-clear = Quitar todo
filter-remove = Quitar el filtro
found-shown = { $count ->
    [one] 1 resultado mostrado
   *[other] { $count } resultados mostrados
}
pages-newer = Más recientes
pages-next = Siguiente
pages-older = Más antiguos
pages-place = Página { $page }
pages-previous = Anterior

# Forms.
confirm-lede = Esta acción no se puede deshacer. Tiene efecto a partir de la siguiente solicitud:
field-optional = (opcional)
field-problem = Problema:
not-saved-yet = Aún sin guardar.
problems-title = { $count ->
    [one] No se ha guardado nada: hay que hacer 1 corrección
   *[other] No se ha guardado nada: hay que hacer { $count } correcciones
}
problem-blank = Escriba un texto.
problem-changed-meanwhile = Otra persona ha cambiado esta ficha entretanto. No se ha guardado nada. Abra de nuevo la página para ver el cambio y haga allí el suyo.
problem-choose = Elija un valor.
problem-code = El código no es correcto. Escriba el código que la aplicación muestra ahora.
problem-email = Escriba un correo electrónico.
problem-email-taken = Otra cuenta de administración ya tiene este correo electrónico.
problem-factor-expired = Este formulario es demasiado antiguo. Empiece otra vez con un código QR nuevo.
problem-factor-off = El segundo factor ya está desactivado.
problem-factor-on = El segundo factor ya está activado. Desactívelo primero.
problem-greater = Escriba 1 o más.
problem-inclusion = Elija uno de los valores ofrecidos.
problem-last-admin = La última cuenta de administración no se puede eliminar.
problem-long = Escriba como máximo { $most } caracteres.
problem-name-typed = El nombre no es el mismo. Escríbalo tal como se muestra.
problem-nul = Un texto tiene un carácter que no se puede almacenar (U+0000, o bytes que no son UTF-8).
problem-number = Escriba un número entero.
problem-password-blank = Escriba una contraseña que no tenga solo espacios.
problem-password-email = Escriba una contraseña distinta del correo electrónico.
problem-password-long = Escriba 1000 caracteres como máximo.
problem-password-short = Escriba al menos 12 caracteres.
problem-scope = El alcance { $scope } no existe.
problem-taken = Este valor ya está en uso. Escriba otro.
text-all = Todos los idiomas
text-empty = vacío
text-in = ({ $language })
text-main = idioma principal
text-partly-empty = { $empty } de { $all } sin texto
text-problems = { $count ->
    [one] 1 problema
   *[other] { $count } problemas
}
text-shown = Idioma mostrado
texts = Textos

# Languages.
language = Idioma
language-en = Inglés
language-es = Español
language-fr = Francés
language-of-browser = El del navegador

# Secrets.
secret-first-call = Primera llamada
secret-lede = Solo se muestra esta vez y se almacena de una forma que no se puede volver a leer. Si se pierde, cree uno nuevo.
secret-stored = Ya lo he guardado
secret-title = Guarde el secreto ahora

# Errors.
broken-busy = El servidor está sobrecargado o la base de datos no responde. No se ha cambiado nada. Inténtelo de nuevo en un minuto.
broken-hint = Con el número de la solicitud se puede encontrar la causa en el log del servidor.
broken-lede = Un error del servidor ha interrumpido esta solicitud. Ha quedado anotado en el log. Si estaba guardando, mire primero si el cambio está ahí: se almacena por completo o no se almacena.
broken-request = Solicitud
broken-time = Hora
broken-title = Algo ha fallado
forbidden-title = No permitido
missing-lede = No hay nada en esta dirección. La página se ha eliminado, pertenece a otra organización o la dirección no está completa.
missing-title = Página no encontrada
refused-title = No es posible
stale-lede = Este formulario es demasiado antiguo o ya se ha enviado. No se ha cambiado nada. Ábralo de nuevo.
stale-open = Abrir de nuevo el formulario
stale-title = Este formulario es demasiado antiguo
too-many-lede = Se han rechazado demasiados inicios de sesión desde esta dirección. Inténtelo de nuevo dentro de { $seconds } s.
too-many-open = Iniciar sesión
too-many-title = Demasiados intentos

# Sign-in.
sign-in = Iniciar sesión
sign-in-code = Código
sign-in-code-hint = Las seis cifras de su aplicación, o un código de recuperación. Solo para cuentas con segundo factor.
sign-in-code-needed = Escriba el código de su aplicación y, de nuevo, la contraseña.
sign-in-hint = Para la administración del sistema. Las cuentas de participantes no funcionan aquí. Para establecer una contraseña nueva, ejecute esto en el servidor:
sign-in-refused = Correo o contraseña incorrectos. Tras 20 intentos fallidos en una hora, los siguientes desde el mismo lugar se rechazan durante una hora.
session-ended = Su sesión ha terminado. Inicie sesión y envíe de nuevo el formulario.

# The own account.
account = Su cuenta
confirmation = Escriba su contraseña
confirmation-code-hint = Las seis cifras de su aplicación, o un código de recuperación. Cada uno sirve una sola vez: si acaba de usar el que se muestra, espere al siguiente.
confirmation-continue = Continuar
confirmation-lede = Los cambios de cuentas, contraseñas y segundos factores de administradores necesitan su propia contraseña. Vale durante cinco minutos.
confirmation-open = Cambiar la contraseña o el segundo factor
confirmation-refused = La contraseña o el código no es correcto. Cuenta como un inicio de sesión fallido.
confirmation-unsaved = No se ha guardado nada: hacía falta de nuevo su contraseña. Escríbala y envíe otra vez el formulario.
password-hint = Al menos 12 caracteres.
password-new = Contraseña nueva
password-new-hint = Al menos 12 caracteres. Vacío: se mantiene la contraseña.
password-save = Guardar la contraseña
password-saved = Contraseña guardada.
password-sessions = Una contraseña nueva termina todas las demás sesiones de la cuenta.
preferences = Idioma y colores
preferences-save = Guardar
preferences-saved = Preferencias guardadas.
theme = Colores
theme-dark = Oscuros
theme-device = Como el dispositivo
theme-light = Claros
recovery-codes = Códigos de recuperación
second-factor = Segundo factor
second-factor-begin = Configurar un segundo factor
second-factor-code-hint = Las seis cifras que la aplicación muestra ahora.
second-factor-confirm = Confirmar con un código
second-factor-end = Desactivar el segundo factor
second-factor-hint = Una aplicación en su teléfono muestra un código nuevo cada 30 segundos. Se pide después de la contraseña.
second-factor-is-off = La contraseña basta para iniciar sesión.
second-factor-is-on = El inicio de sesión necesita la contraseña y un código.
second-factor-key = Clave
second-factor-of-admin = Esta cuenta tiene un segundo factor. Desactívelo solo si se han perdido el teléfono y los códigos de recuperación.
second-factor-off = El segundo factor está desactivado.
second-factor-on = El segundo factor está activado. Cada código de recuperación sirve una sola vez.
second-factor-qr = Código QR para la aplicación
second-factor-scan = Añada la cuenta a la aplicación
second-factor-scan-hint = Escanee el código QR con la aplicación o escriba la clave.
second-factor-turn-on = Activar

# The first administrator.
setup-create = Crear ambas
setup-host-hint = El nombre que usan las personas y los programas. Sus registros DNS deben apuntar aquí.
setup-lede = Todavía no hay ninguna cuenta de administración. Cree la primera, y la primera organización.
setup-name = Nombre de la organización
setup-title = Configurar Civitas
