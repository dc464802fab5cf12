// Renders a questionnaire with JSON Forms and submits its answers. Parameters of the page: `questionnaire`, `token`.
// `window.form` is what the library reported last: data and errors. No element may have the id `form`: a browser gives
// the element under that name until the library has reported.
import { JsonForms } from '@jsonforms/react';
import { vanillaCells, vanillaRenderers } from '@jsonforms/vanilla-renderers';
import React, { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { renderers } from './renderers.jsx';

const BASE = '/api/rest_full/v0.3';
const parameters = new URLSearchParams(location.search);
const headers = { Authorization: `Bearer ${parameters.get('token')}`, 'Content-Type': 'application/json' };

/** The file is staged, then its bytes are sent to the address in `Location`; gives the signed id. */
async function upload(file) {
  const checksum = await window.md5(btoa(String.fromCharCode(...new Uint8Array(await file.arrayBuffer()))));
  const staged = await fetch(`${BASE}/attachments/direct_upload`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ filename: file.name, byte_size: file.size, checksum, content_type: file.type }),
  });
  const { signed_id: signedId } = await staged.json();
  const { pathname } = new URL(staged.headers.get('Location'));
  const stored = await fetch(pathname, { method: 'PUT', headers: { 'Content-Type': file.type }, body: file });
  if (stored.status !== 204) throw new Error(`the upload answered ${stored.status}`);
  return signedId;
}

/** The body of a submission. */
function submission(questionnaire, answers) {
  return {
    meta: { anonymous: true, client_ip: '203.0.113.42' },
    data: {
      type: 'questionnaire_response',
      attributes: { answers },
      relationships: { questionnaire: { data: { type: 'questionnaires', id: questionnaire.id } } },
    },
  };
}

async function submit(questionnaire) {
  const { pathname } = new URL(questionnaire.links.submit_sync.href);
  const body = JSON.stringify(submission(questionnaire, window.form.data));
  const answer = await fetch(pathname, { method: 'POST', headers, body });
  window.submitted = { status: answer.status, location: answer.headers.get('Location'), body: await answer.json() };
}

/** Names of the options for the select of the library, which translates `<prefix>.<option id>`. */
function translator(ui, locale) {
  const options = ui.elements.flatMap((element) => element.options?.choices ?? []);
  const names = new Map(options.map(({ id, translations }) => [id, translations[locale]]));
  return (key, text) => names.get(key.split('.').pop()) ?? text;
}

const all = [...vanillaRenderers, ...renderers];

function Page({ questionnaire }) {
  const { schema, ui } = questionnaire.attributes;
  const { locale } = questionnaire.meta;
  // The library keeps the data; giving them back while the respondent types loses characters.
  const [initial] = useState(() => ({ data: {}, config: { locale, upload }, i18n: { locale, translate: translator(ui, locale) } }));
  const changed = (state) => {
    window.form = state;
  };
  return (
    <>
      <JsonForms
        schema={schema}
        uischema={ui}
        {...initial}
        renderers={all}
        cells={vanillaCells}
        onChange={changed}
      />
      <button id="submit" type="button" onClick={() => submit(questionnaire)}>
        Submit
      </button>
    </>
  );
}

const shown = await fetch(`${BASE}/questionnaires/${parameters.get('questionnaire')}`, { headers });
const { data: questionnaire } = await shown.json();
window.questionnaire = questionnaire;
createRoot(document.getElementById('root')).render(<Page questionnaire={questionnaire} />);
