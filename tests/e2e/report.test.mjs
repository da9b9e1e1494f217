// A report opened in a real browser: it draws every plot, says nothing on the console and asks
// nobody for anything.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';
import {root} from '../../bench/lib/servers.mjs';

const folder = mkdtempSync(path.join(os.tmpdir(), 'tidegate-report-'));
let browser;

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.TIDEGATE_TEST_BROWSER,
    // A container has neither a sandbox nor much shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
});

after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

function simulate(scenario, ...more) {
  const page = path.join(folder, scenario + '.html');
  execFileSync(process.env.TIDEGATE_BINARY,
      ['sim', path.join(root, 'scenarios', scenario + '.yaml'), '--html', page, ...more]);
  return page;
}

// Opens the page; what it complained about and what it asked for are kept beside it.
async function open(file, options = {}) {
  const page = await browser.newPage({viewport: {width: 1280, height: 900}, ...options});
  const heard = {complaints: [], requests: []};
  page.on('console', (message) => heard.complaints.push(message.text()));
  page.on('pageerror', (error) => heard.complaints.push(String(error)));
  page.on('request', (request) => heard.requests.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  return {page, heard};
}

// For each figure: its title, whether it says that there is nothing to draw, and how many marks of
// data it has (paths and texts beyond what empty axes have do not count).
function figures_of(page) {
  return page.$$eval('figure', (all) => all.map((figure) => {
    const holder = figure.querySelector('.plot');
    const drawn = [...holder.querySelectorAll('svg path')].filter((path) => {
      const box = path.getBBox();
      return box.width > 20 && box.height > 0 && !path.closest('defs');
    });
    return {
      title: figure.querySelector('figcaption').firstChild.textContent,
      nothing: holder.hidden,
      reason: figure.querySelector('.nothing').textContent,
      marks: drawn.length,
      height: holder.getBoundingClientRect().height,
      says: holder.getAttribute('aria-label'),
    };
  }));
}

// Every figure either has data in it or says why it has none, and tells in words what it shows.
function assert_drawn(figures, may_be_empty = []) {
  for (const {title, nothing, reason, marks, height, says} of figures) {
    if (nothing) {
      assert.ok(may_be_empty.includes(title), `${title} is empty`);
      assert.match(reason, /\w+ .*\.$/, `${title} does not say why it is empty`);
    } else {
      assert.ok(marks > 0 && height > 100, `${title} has ${marks} marks, ${height} pixels`);
      assert.match(says, /\d/, `${title} tells no number`);
    }
  }
}

const of_run = ['Arrivals and completions', 'Queue', 'Turned away', 'Preemptions',
                'KV memory in use', 'Requests running', 'Engine time in use', 'Tokens', 'Fairness'];
const latencies = ['Time to first token', 'Time per output token', 'Request, arrival to end'];
const at_rest = ['Preemptions', 'Fairness'];

// The page of two seeds draws distributions, the course of a run, the use of each GPU and the kept
// promises; it makes no request but for itself and logs nothing.
test('draws every plot without asking anybody', async () => {
  const {page, heard} = await open(simulate('overload2x', '--seeds', '2'));
  const figures = await figures_of(page);
  const titles = figures.map(({title}) => title);
  for (const title of [...of_run, ...latencies, 'Kept promises by class',
                       'Kept promises and the bounds', 'Engine time in use by GPU',
                       'KV memory in use by GPU']) {
    assert.ok(titles.includes(title), `there is no figure "${title}"`);
  }
  assert_drawn(figures, at_rest);
  assert.equal(figures.find(({title}) => title === 'Turned away').nothing, false);
  assert.deepEqual(heard.complaints, []);
  assert.deepEqual(heard.requests, [page.url()]);
});

// The numbers on the page are those of the JSON: offered requests and refusals of the seeds add up.
test('shows the numbers of the report', async () => {
  const file = path.join(folder, 'numbers.json');
  const {page} = await open(simulate('overload2x', '--seeds', '2', '--report', file));
  const {runs} = JSON.parse(readFileSync(file, 'utf8'));
  const sum = (of) => runs.map(of).reduce((a, b) => a + b, 0);
  const offered = sum(({totals}) => totals.offered);
  const refused = sum(({totals}) => Object.values(totals.rejected).reduce((a, b) => a + b, 0));
  const table = page.getByRole('table', {name: /Policies and their classes/});
  const cells = await table.locator('tbody tr').first().locator('th, td').allTextContents();
  assert.equal(cells[0], 'tidegate');
  assert.equal(cells[1], offered.toLocaleString('en'));
  assert.ok(cells.includes(refused.toLocaleString('en')), cells.join(' | '));
});

// Choosing a class draws its own distribution with its promise, and choosing a seed another run.
test('follows the choices', async () => {
  const {page, heard} = await open(simulate('guarantee_best_effort', '--seeds', '2'));
  const said = (title) => page.locator('figure', {hasText: title}).first().locator('.plot')
      .getAttribute('aria-label');
  const together = await said('Time to first token');
  const choice = page.locator('#latency').getByLabel('Class');
  const names = await choice.locator('option').allTextContents();
  assert.ok(names.length > 2, names.join());
  await choice.selectOption(names[1]);
  assert.notEqual(await said('Time to first token'), together);
  const first = await said('Arrivals and completions');
  await page.locator('#time').getByLabel('Seed').selectOption('2');
  assert.notEqual(await said('Arrivals and completions'), first);
  assert.deepEqual(heard.complaints, []);
});

// Several loads with several seeds make one line over load with its range, below the bound.
test('plots kept promises over load', async () => {
  const {page, heard} = await open(
      simulate('overload2x', '--seeds', '2', '--sweep-load', '0.25,0.5'));
  const figures = await figures_of(page);
  const over = figures.find(({title}) => title === 'Kept promises over load');
  assert.ok(over && over.marks >= 2, JSON.stringify(over));
  const shares = [...over.says.matchAll(/at ([\d.]+) times: ([\d.]+) %/g)]
      .map((match) => match.slice(1).map(Number));
  assert.deepEqual(shares.map(([load]) => load), [0.25, 0.5]);
  assert.ok(shares[0][1] >= shares[1][1], 'more load kept more promises');
  assert.deepEqual(heard.complaints, []);
});

// On a phone and in the dark nothing sticks out sideways, and the plots are still drawn.
test('fits a narrow dark screen', async () => {
  const {page, heard} = await open(simulate('underload'),
      {viewport: {width: 390, height: 844}, colorScheme: 'dark'});
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390);
  assert_drawn(await figures_of(page), [...at_rest, 'Turned away', 'Queue']);
  assert.deepEqual(heard.complaints, []);
});
