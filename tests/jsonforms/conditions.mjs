// Every type of display condition: the questions that the rules of JSON Forms display are those the server displays.
// A response has one member for each question that the server displayed.
import { createAjv, isVisible } from '@jsonforms/core';
import { isDeepStrictEqual } from 'node:util';

/** Answers by the ref of the question; options and rows by their refs. */
const SUBMISSIONS = {
  'one text': { 'c-text': 'By bike' },
  'a text with every character that patterns use': { 'c-text': 'In Saint-Denis (A/B) 100% of us' },
  'another text': { 'c-text': 'In Saint.Denis (A/B) 100% of us' },
  'the first option': { 'c-one': 'c-one-a' },
  'the other option': { 'c-one': 'c-one-b' },
  'text and option': { 'c-text': 'x', 'c-one': 'c-one-a' },
  'one of several': { 'c-many': ['c-many-a'] },
  'all of several': { 'c-many': ['c-many-a', 'c-many-b'] },
  'a list without the option': { 'c-many': ['c-many-b'] },
  'a matrix with the option': { 'c-grid': { first: 'c-grid-b', second: 'c-grid-a' } },
  'a matrix without the option': { 'c-grid': { first: 'c-grid-b' } },
  'a matrix of lists with the option': { 'c-table': { third: ['c-table-a', 'c-table-b'] } },
  'a matrix of lists without the option': { 'c-table': { third: ['c-table-b'] } },
};

/**
 * Rules as the library must have them. A schema with `not` is false for it while there is no answer, because `minLength`
 * and the like hold for values of other types. With the type in it the rule has the meaning of the interface.
 */
function forLibrary(element) {
  const adapted = (condition) => {
    if (condition.conditions) return { ...condition, conditions: condition.conditions.map(adapted) };
    if (condition.failWhenUndefined || !condition.schema.not) return condition;
    const types = { minLength: 'string', minItems: 'array', minProperties: 'object' };
    const [limit] = Object.keys(condition.schema.not);
    return { ...condition, schema: { not: { type: types[limit], ...condition.schema.not } } };
  };
  return { ...element, rule: element.rule && { ...element.rule, condition: adapted(element.rule.condition) } };
}

/** All checks of display conditions. */
export async function checkConditions({ check, call, ids }) {
  const id = (ref) => `${ids.question[ref] ?? ids.answer_option[ref] ?? ids.matrix_row?.[ref]}`;
  const questionnaire = `${ids.questionnaire.conditions}`;
  const { ui } = (await call('GET', `/questionnaires/${questionnaire}?locale=en`)).body.data.attributes;
  const ajv = createAjv();
  const rows = new Map(
    ui.elements.flatMap((element) => element.options?.matrix?.rows ?? []).map((row) => [row.translations.en.toLowerCase(), row.id]),
  );
  const sent = (value) => {
    if (Array.isArray(value)) return value.map(id);
    if (typeof value === 'string') return ids.answer_option[value] ? id(value) : value;
    return Object.fromEntries(Object.entries(value).map(([row, answer]) => [rows.get(row), sent(answer)]));
  };
  const shown = (elements, answers) =>
    elements
      .filter((element) => !element.rule || isVisible(element, answers, undefined, ajv, {}))
      .map((element) => element.label)
      .sort();
  for (const [name, refs] of Object.entries(SUBMISSIONS)) {
    const answers = Object.fromEntries(Object.entries(refs).map(([ref, value]) => [id(ref), sent(value)]));
    const body = {
      meta: { anonymous: true },
      data: {
        type: 'questionnaire_response',
        attributes: { answers },
        relationships: { questionnaire: { data: { type: 'questionnaires', id: questionnaire } } },
      },
    };
    await check(`conditions: ${name}`, async () => {
      const { status, body: response } = await call('POST', '/answers/sync', body);
      if (status !== 201) throw new Error(JSON.stringify(response));
      const labels = new Map(ui.elements.map((element) => [element.scope.split('/').pop(), element.label]));
      const displayed = Object.keys(response.data.attributes.answers).map((question) => labels.get(question)).sort();
      const expected = shown(ui.elements.map(forLibrary), answers);
      if (!isDeepStrictEqual(displayed, expected)) {
        const different = [...displayed, ...expected].filter((l) => displayed.includes(l) !== expected.includes(l));
        throw new Error(`library and server differ: ${different.join(', ')}`);
      }
      return true;
    });
  }
  const unanswered = (elements) => shown(elements, {}).filter((label) => label.includes('is-not-answered'));
  await check('without adaption the library hides what depends on no answer', () => unanswered(ui.elements).length === 0);
  await check('with it the library displays it', () => unanswered(ui.elements.map(forLibrary)).length === 3);
}
