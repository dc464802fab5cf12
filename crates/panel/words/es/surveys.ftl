# Encuestas, preguntas y respuestas.

action-response-deleted = Respuesta eliminada
nav-surveys = Encuestas

# La lista.
survey-closed = Cerrada
survey-new = Nueva encuesta
survey-of-component = Encuestas del componente
survey-of-meeting = Formulario de un encuentro
survey-one = Encuesta
survey-open = Abierta
survey-planned = Todavía no abierta
survey-questions = Preguntas
survey-responses = Respuestas
surveys-by-change = Último cambio
surveys-filter = Filtrar las encuestas
surveys-lede = Las encuestas y los formularios de inscripción de los encuentros.
surveys-no-match = Ninguna encuesta coincide
surveys-none = Todavía no hay encuestas
surveys-search = Título

# Una encuesta.
survey-tab-edit = Título y condiciones
survey-tab-preview = Vista previa
survey-tab-questions = Preguntas
survey-tab-responses = Respuestas
survey-tabs = Encuesta
survey-dates-both = Abierta del { $from } al { $to }.
survey-dates-from = Abierta desde el { $from }.
survey-dates-meeting = El formulario de un encuentro no tiene fechas.
survey-dates-none = Siempre abierta.
survey-dates-to = Abierta hasta el { $to }.

# Textos y fechas.
problem-survey-dates = El final debe ser posterior al comienzo.
problem-survey-locked = El tipo no puede cambiar: la pregunta tiene respuestas.
problem-survey-long = El texto es demasiado largo.
problem-survey-many = Hay demasiados.
problem-survey-order = Una pregunta no puede ir antes de la pregunta que nombra su condición.
survey-component-hint = Un componente puede tener varias encuestas.
survey-create = Crear la encuesta
survey-created = La encuesta { $name } se ha creado.
survey-created-next = Ahora añada sus preguntas.
survey-ends = Cierra
survey-new-lede = Una encuesta pertenece a un componente. Se puede responder cuando el componente está publicado.
survey-save = Guardar
survey-saved = { $name } está guardada.
survey-starts = Abre
survey-texts = Textos
survey-tos = Condiciones
survey-when = Fechas
survey-when-hint = Horas de { $zone }. Sin fechas, la encuesta está siempre abierta.
survey-who-meeting = Solo las personas con cuenta pueden responder, una vez cada una.
survey-who-survey = Las personas con cuenta pueden responder una vez; también se aceptan respuestas sin cuenta.

# Preguntas.
question-add = Añadir una pregunta
question-at-most = { $count ->
    [one] como máximo 1 opción
   *[other] como máximo { $count } opciones
}
question-at-most-characters = { $count ->
    [one] como máximo 1 carácter
   *[other] como máximo { $count } caracteres
}
question-body = Pregunta
question-close = Cerrar
question-conditions-count = { $count ->
    [one] 1 condición
   *[other] { $count } condiciones
}
question-create = Añadir la pregunta { $number }
question-created = La pregunta «{ $title }» se ha añadido.
question-delete = Eliminar la pregunta
question-delete-answers = { $count ->
    [0] La pregunta no tiene respuestas
    [one] Se elimina 1 respuesta a la pregunta
   *[other] Se eliminan { $number } respuestas a la pregunta
}
question-delete-conditions = { $count ->
    [0] Ninguna condición nombra la pregunta
    [one] Se elimina 1 condición de otra pregunta
   *[other] Se eliminan { $count } condiciones de otras preguntas
}
question-delete-link = Eliminar la pregunta { $number }…
question-delete-options = { $count ->
    [one] Se elimina 1 opción
   *[other] Se eliminan { $count } opciones
}
question-delete-shown = { $count ->
    [one] La pregunta { $questions } puede mostrarse entonces a más personas
   *[other] Las preguntas { $questions } pueden mostrarse entonces a más personas
}
question-delete-stays = Las demás preguntas y sus respuestas se quedan. Los envíos sin otra respuesta se eliminan.
question-delete-title = ¿Eliminar la pregunta { $number }?
question-deleted = La pregunta «{ $title }» se ha eliminado.
question-description = Explicación
question-displayed = Se muestra
question-displayed-hint = Sin condiciones: siempre. Si hay condiciones marcadas como «Necesaria», todas deben cumplirse; si no, basta una.
question-files = Archivos
question-is-mandatory = obligatoria
question-layout = diseño, sin respuesta
question-long-answer = Respuesta larga
question-mandatory = Obligatoria
question-mandatory-hint = Solo cuenta mientras se muestra la pregunta.
question-matrix-multiple = Matriz, varias opciones por fila
question-matrix-single = Matriz, una opción por fila
question-max-characters = Máximo de caracteres
question-max-characters-hint = Vacío: sin límite.
question-max-choices = Máximo de opciones
question-max-choices-hint = Vacío: tantas como haya.
question-more-rows = Guardar y añadir filas
question-moved = «{ $title }» se ha movido.
question-multiple-option = Varias opciones
question-new-type = Tipo de la nueva pregunta
question-number = Pregunta { $number }
question-option-in = Opción { $id } en { $language }
question-option-loss = { $count ->
    [one] La condición de la pregunta { $questions } pierde esta opción y entonces nunca se cumple.
   *[other] Las condiciones de las preguntas { $questions } pierden esta opción y entonces nunca se cumplen.
}
question-options = Opciones
question-options-count = { $count ->
    [one] 1 opción
   *[other] { $count } opciones
}
question-options-hint = En el orden de sus números. Las filas nuevas vacías no se guardan.
question-part-new = nueva
question-place = Lugar
question-remove = Quitar
question-row-in = Fila { $id } en { $language }
question-row-place = Lugar de la fila { $id }
question-rows = Filas
question-rows-count = { $count ->
    [one] 1 fila
   *[other] { $count } filas
}
question-rows-hint = En el orden de sus lugares. Las filas nuevas vacías no se guardan.
question-save = Guardar la pregunta { $number }
question-saved = La pregunta «{ $title }» está guardada.
question-separator = Separador (diseño)
question-short-answer = Respuesta corta
question-single-option = Una opción
question-sorting = Poner en orden
question-stays = «{ $title }» se queda donde está.
question-title-and-description = Título y texto (diseño)
question-type = Tipo
question-type-hint = Después de elegir otro, guarde para ver sus campos.
question-type-locked = Fijo: la pregunta tiene respuestas.
question-up = Subir
question-down = Bajar
questions-none = Todavía no hay preguntas
questions-none-lede = Elija un tipo abajo y añada la primera.

# Condiciones.
condition-always = Mostrar siempre
condition-answered = tiene respuesta
condition-equal = es igual a
condition-match = contiene el texto
condition-more = Guardar y añadir una condición
condition-needed = Necesaria
condition-not-answered = no tiene respuesta
condition-not-equal = no es igual a
condition-option = Opción
condition-question = Si la pregunta
condition-type = Comparación
condition-value = Texto en { $language }

# Respuestas.
response-anonymous = sin cuenta
response-answered = Respondidas
response-answers = Respuestas
response-by = Persona
response-delete = Eliminar la respuesta
response-delete-again = Una persona con cuenta puede responder de nuevo
response-delete-answers = { $count ->
    [0] El envío no tiene respuestas
    [one] Se elimina 1 respuesta
   *[other] Se eliminan { $count } respuestas
}
response-delete-files = Los archivos del envío se eliminan
response-delete-link = Eliminar…
response-delete-stays = Las preguntas y todos los demás envíos se quedan.
response-deleted = La respuesta { $id } se ha eliminado.
response-displayed = Preguntas mostradas
response-not-displayed = no se mostró
response-nothing = sin respuesta
response-one = Respuesta
response-time = Enviada
response-title = Respuesta { $id }
responses-export-csv = Exportar como CSV
responses-export-ndjson = Exportar como NDJSON
responses-none = Todavía no hay respuestas
responses-none-lede = Las respuestas aparecen aquí en cuanto se envían.

# Vista previa.
survey-preview-condition = { $count ->
    [one] Se muestra con 1 condición.
   *[other] Se muestra con { $count } condiciones.
}
survey-preview-show = Mostrar
