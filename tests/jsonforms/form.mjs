// Every kind of question of the demo questionnaire, filled in through the rendered controls.
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

const TITLE = 'When do you ride?';
/** A control is drawn in its next frame; this is the patience for anything the page waits for. */
const TIMEOUT = { timeout: 20_000, polling: 50 };

const md5 = (base64) => createHash('md5').update(Buffer.from(base64, 'base64')).digest('base64');

/** What is on the page, by the label of the question. */
class Form {
  constructor(page, questionnaire) {
    this.page = page;
    this.elements = questionnaire.attributes.ui.elements;
  }

  element(label) {
    return this.elements.find((element) => element.label === label);
  }

  id(label) {
    return this.element(label).scope.split('/').pop();
  }

  /** The id of an option or of a row, by its English text. */
  choice(label, text) {
    const { choices, matrix } = this.element(label).options;
    return [...choices, ...(matrix?.rows ?? [])].find(({ translations }) => translations.en === text).id;
  }

  /** The selector of a part of the control. */
  part(label, selector = '') {
    return `[id="${this.element(label).scope}"] ${selector}`.trim();
  }

  isVisible(label) {
    return this.page.$eval(this.part(label), (control) => control.offsetParent !== null);
  }

  async click(label, selector) {
    await this.page.click(this.part(label, selector));
  }

  async tick(label, row, ...texts) {
    const line = row ? `[data-row="${this.choice(label, row)}"] ` : '';
    for (const text of texts) await this.click(label, `${line}input[value="${this.choice(label, text)}"]`);
  }

  /** Chooses the option that is displayed with this text. */
  async select(label, text) {
    const select = this.part(label, 'select');
    const find = (control, wanted) => [...control.options].find((option) => option.label === wanted)?.value;
    await this.page.select(select, await this.page.$eval(select, find, text));
  }

  /** Whether the data of the library become these. */
  async yields(label, expected) {
    const same = ([id, value]) => JSON.stringify(window.form?.data?.[id]) === JSON.stringify(value);
    await this.page.waitForFunction(same, TIMEOUT, [this.id(label), expected]);
    return true;
  }

  /** The errors of the library: keyword and path of each. */
  async errors() {
    const errors = await this.page.evaluate(() => window.form.errors.map((error) => [error.keyword, error.instancePath]));
    return errors.map(([keyword, place]) => `${keyword} ${place}`.trim());
  }

  async hasErrors(...expected) {
    const found = () => JSON.stringify(window.form.errors.map((error) => `${error.keyword} ${error.instancePath}`.trim()));
    const wanted = JSON.stringify(expected);
    await this.page.waitForFunction(`(${found})() === ${JSON.stringify(wanted)}`, TIMEOUT);
    return true;
  }

  async showsOnly(expected) {
    const shown = [];
    for (const { label, type } of this.elements) {
      if (type === 'Control' && (await this.isVisible(label))) shown.push(label);
    }
    return isDeepStrictEqual(shown, expected);
  }
}

/** The questionnaire, opened in the browser. Unexpected messages of the browser are collected in `messages`. */
async function open({ call, browser, address, token }, messages) {
  const list = await call('GET', '/questionnaires');
  const { id } = list.body.data.find((item) => item.attributes.title === TITLE);
  const { data: questionnaire } = (await call('GET', `/questionnaires/${id}?locale=en`)).body;
  const page = await browser.newPage();
  page.on('pageerror', (error) => messages.push(`${error}`));
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) messages.push(message.text());
  });
  await page.exposeFunction('md5', md5);
  await page.goto(`${address}/?${new URLSearchParams({ questionnaire: id, token })}`);
  await page.waitForFunction(() => window.form !== undefined, TIMEOUT);
  return new Form(page, questionnaire);
}

const USE = 'Do you take the night bus?';
const NIGHTS = 'On which nights?';
const ORDER = 'What matters most?';
const RATING = 'How do you rate it?';
const TIMES = 'When should it run?';
const STOP = 'Your stop';
const WHY = 'What should change?';
const PHOTO = 'A photo of your stop';
const ALWAYS = [USE, ORDER, RATING, TIMES, STOP, PHOTO];

async function checkLayout({ check, form, call }) {
  const text = await form.page.$eval('body', (body) => body.innerText);
  await check('every element has a renderer', () => !text.includes('No applicable renderer found'));
  await check('labels and groups are displayed', () =>
    ['Thank you for taking part', 'Your habits', ...ALWAYS].every((label) => text.includes(label)));
  await check('questions with a condition are hidden first', () => form.showsOnly(ALWAYS));
  await check('a missing mandatory answer is an error of the library', () => form.hasErrors('required'));
  await check('the server refuses it too', async () => {
    await form.page.click('#submit');
    await form.page.waitForFunction(() => window.submitted, TIMEOUT);
    const { status, body } = await form.page.evaluate(() => window.submitted);
    await form.page.evaluate(() => delete window.submitted);
    return status === 422 && isDeepStrictEqual(body.error_details.map(({ code, field }) => [code, field]), [
      ['blank', `answers.${form.id(USE)}`],
    ]);
  });
}

/** Display conditions are evaluated by the library while the respondent types. */
async function checkDisplay({ check, form }) {
  const visible = (label) =>
    form.page.waitForSelector(form.part(label), { ...TIMEOUT, visible: true }).then(() => true);
  const hidden = (label) =>
    form.page.waitForSelector(form.part(label), { ...TIMEOUT, hidden: true }).then(() => true);
  await form.select(USE, 'No');
  await check('the select has the texts of the options', () => form.yields(USE, form.choice(USE, 'No')));
  await check('not_equal: a question appears', () => visible(WHY));
  await check('equal: the other one stays hidden', () => hidden(NIGHTS));
  await form.select(USE, 'Yes');
  await check('equal: the other one appears', () => visible(NIGHTS));
  await check('not_equal: the question disappears', () => hidden(WHY));
  await form.page.type(form.part(STOP, 'input'), 'Mill Street');
  await check('match: one of two conditions is enough', () => visible(WHY));
}

async function fill({ check, form, photo }) {
  const ids = (label, ...texts) => texts.map((text) => form.choice(label, text));
  await check('text', () => form.yields(STOP, 'Mill Street'));
  await form.page.type(form.part(WHY, 'textarea'), 'More buses\nafter two.');
  await check('textarea', () => form.yields(WHY, 'More buses\nafter two.'));
  await form.tick(NIGHTS, null, 'Friday', 'Saturday', 'Sunday');
  await check('too many options are an error of the library', () => form.hasErrors(`maxItems /${form.id(NIGHTS)}`));
  await form.tick(NIGHTS, null, 'Saturday');
  await check('multi select', () => form.yields(NIGHTS, ids(NIGHTS, 'Friday', 'Sunday')));
  for (let step = 0; step < 2; step += 1) await form.click(ORDER, `button[value="${form.choice(ORDER, 'Frequency')}"]`);
  await check('sorting', () => form.yields(ORDER, ids(ORDER, 'Frequency', 'Price', 'Speed')));
  await form.tick(RATING, 'Safety', 'Good');
  await form.tick(RATING, 'Cleanliness', 'Poor');
  const [safe, clean] = ids(RATING, 'Safety', 'Cleanliness');
  const [good, poor] = ids(RATING, 'Good', 'Poor');
  await check('matrix of single options', () => form.yields(RATING, { [safe]: good, [clean]: poor }));
  await form.tick(TIMES, 'Weekend', 'Until four', 'All night');
  const times = { [form.choice(TIMES, 'Weekend')]: ids(TIMES, 'Until four', 'All night') };
  await check('matrix of several options', () => form.yields(TIMES, times));
  await (await form.page.$(form.part(PHOTO, 'input'))).uploadFile(photo);
  const sent = (id) => /^[\w-]+--[0-9a-f]+$/.test(window.form.data[id]?.[0] ?? '');
  await check('a file is uploaded directly', async () => {
    await form.page.waitForFunction(sent, TIMEOUT, form.id(PHOTO));
    return true;
  });
  await check('the library has no errors', () => form.hasErrors());
}

async function checkSubmission({ check, form, call }) {
  const data = await form.page.evaluate(() => window.form.data);
  await form.page.click('#submit');
  await form.page.waitForFunction(() => window.submitted, TIMEOUT);
  const { status, location, body } = await form.page.evaluate(() => window.submitted);
  await check('the data of the library are accepted', () => status === 201);
  await check('Location is the response', () => location === body.data.links.self.href);
  const stored = await call('GET', `/questionnaire_responses/${body.data.id}`);
  await check('the response is what was answered', () => isDeepStrictEqual(stored.body.data, body.data));
  const { [form.id(PHOTO)]: files, ...answers } = stored.body.data.attributes.answers;
  const { [form.id(PHOTO)]: _, ...expected } = { ...data, [form.id(USE)]: [data[form.id(USE)]] };
  await check('the stored answers are those of the library', () => isDeepStrictEqual(answers, expected));
  await check('the file is an attachment', () => files.length === 1 && /^\d+$/.test(files[0]));
}

/** All checks of the form. */
export async function checkForm(context) {
  const messages = [];
  const form = await open(context, messages);
  const parts = { ...context, form };
  await checkLayout(parts);
  // The browser reports each answer of 422.
  const refusals = messages.filter((message) => message.includes('status of 422'));
  messages.splice(0, messages.length, ...messages.filter((message) => !refusals.includes(message)));
  await checkDisplay(parts);
  await fill(parts);
  await checkSubmission(parts);
  await context.check('the browser reports nothing else', () => {
    if (messages.length > 0) throw new Error(messages.join('\n'));
    return true;
  });
}
