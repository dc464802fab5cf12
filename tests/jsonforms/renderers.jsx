// Controls for the four kinds of question that the vanilla renderers have no control for: lists of options, lists in
// an order, matrices, and files. They take the texts of options and rows from the `options` of the element.
import { and, rankWith, schemaMatches, uiTypeIs } from '@jsonforms/core';
import { withJsonFormsControlProps } from '@jsonforms/react';
import React from 'react';

const text = ({ translations }, config) => translations[config.locale] ?? Object.values(translations)[0];
const toggled = (list, id) => (list.includes(id) ? list.filter((other) => other !== id) : [...list, id]);
const orNothing = (list) => (list.length > 0 ? list : undefined);

function Field({ control, children }) {
  const { id, visible, label, errors } = control;
  return (
    <fieldset id={id} hidden={!visible}>
      <legend>{label}</legend>
      {children}
      <div className="errors">{errors}</div>
    </fieldset>
  );
}

function Checkboxes({ choices, config, chosen, onChange }) {
  return choices.map((choice) => (
    <label key={choice.id}>
      <input
        type="checkbox"
        value={choice.id}
        checked={chosen.includes(choice.id)}
        onChange={() => onChange(orNothing(toggled(chosen, choice.id)))}
      />
      {text(choice, config)}
    </label>
  ));
}

function Several(control) {
  const { data, path, handleChange, uischema, config } = control;
  return (
    <Field control={control}>
      <Checkboxes
        choices={uischema.options.choices}
        config={config}
        chosen={data ?? []}
        onChange={(chosen) => handleChange(path, chosen)}
      />
    </Field>
  );
}

/** All options in the order of the respondent; the first move of one of them is the answer. */
function Sorting(control) {
  const { data, path, handleChange, uischema, config } = control;
  const { choices } = uischema.options;
  const order = data ?? choices.map((choice) => choice.id);
  const up = (index) => {
    const moved = [...order];
    [moved[index - 1], moved[index]] = [moved[index], moved[index - 1]];
    handleChange(path, moved);
  };
  return (
    <Field control={control}>
      <ol>
        {order.map((id, index) => (
          <li key={id}>
            {text(choices.find((choice) => choice.id === id), config)}
            <button type="button" value={id} disabled={index === 0} onClick={() => up(index)}>
              Up
            </button>
          </li>
        ))}
      </ol>
    </Field>
  );
}

/** One line for each row. It changes the whole answer: a path with two numbers would be an array for the library. */
function Matrix(control) {
  const { data, path, handleChange, schema, uischema, config } = control;
  const { choices, matrix } = uischema.options;
  const change = (row, value) => {
    const { [row]: _, ...others } = data ?? {};
    const rows = value === undefined ? others : { ...others, [row]: value };
    handleChange(path, Object.keys(rows).length > 0 ? rows : undefined);
  };
  const radio = (row, choice) => (
    <label key={choice.id}>
      <input
        type="radio"
        name={`row-${row.id}`}
        value={choice.id}
        checked={data?.[row.id] === choice.id}
        onChange={() => change(row.id, choice.id)}
      />
      {text(choice, config)}
    </label>
  );
  const line = (row) => {
    if (schema.properties[row.id].type === 'string') return choices.map((choice) => radio(row, choice));
    const chosen = data?.[row.id] ?? [];
    return (
      <Checkboxes choices={choices} config={config} chosen={chosen} onChange={(value) => change(row.id, value)} />
    );
  };
  return (
    <Field control={control}>
      {matrix.rows.map((row) => (
        <div key={row.id} data-row={row.id}>
          <span>{text(row, config)}</span>
          {line(row)}
        </div>
      ))}
    </Field>
  );
}

function Files(control) {
  const { data, path, handleChange, config } = control;
  const add = async (event) => {
    const uploaded = await Promise.all([...event.target.files].map(config.upload));
    handleChange(path, orNothing(uploaded));
  };
  return (
    <Field control={control}>
      <input type="file" multiple onChange={add} />
      <span>{(data ?? []).length}</span>
    </Field>
  );
}

const isList = (schema) => schema.type === 'array';
const isOrder = (schema) => isList(schema) && schema.minItems !== undefined;
const hasChoices = (element) => element.options?.choices !== undefined;
const control = (rank, matches, renderer) => ({
  tester: rankWith(rank, and(uiTypeIs('Control'), matches)),
  renderer: withJsonFormsControlProps(renderer),
});

export const renderers = [
  control(10, schemaMatches(isList), Files),
  control(11, and(schemaMatches(isList), hasChoices), Several),
  control(12, and(schemaMatches(isOrder), hasChoices), Sorting),
  control(13, (element) => element.options?.matrix !== undefined, Matrix),
];
