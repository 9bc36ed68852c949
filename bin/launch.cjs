/**
 * Loads the program that the first word names. In plain JavaScript that an old Node can read, so that it is told in a
 * sentence what is missing, and not by a syntax error.
 */

'use strict'

const { existsSync } = require('node:fs')
const { dirname, join } = require('node:path')
const { pathToFileURL } = require('node:url')

const root = dirname(__dirname)
/** The package holds JavaScript made of the sources (see script/build.ts), because Node strips no types inside node_modules. */
const isCheckout = existsSync(join(root, 'service', 'main.ts'))
/** The demo is no part of the package. */
const programs = isCheckout ? { start: 'service/main', demo: 'cli/demo/demo' } : { start: 'service/main' }

const needed = require('../package.json').dependencies.node

function isOldNode() {
  return Number.parseInt(process.versions.node, 10) < Number.parseInt(needed, 10)
}

function nodeSentence() {
  const found = `Barograph needs Node ${Number.parseInt(needed, 10)} or newer, and this is ${process.versions.node} (${process.execPath})`
  try {
    require.resolve('node/bin/node')
  } catch (_error) {
    const again = isCheckout ? 'run "script/npm ci" with' : 'install the package again and allow'
    return `${found}: ${again} install scripts (no --ignore-scripts), which bring Node ${needed}.`
  }
  return `${found}: use ${isCheckout ? '"npm start" or "npx barograph"' : 'the command "barograph"'}, which takes the Node ${needed} of its own.`
}

function load() {
  const word = process.argv[2]
  const isNamed = Object.keys(programs).includes(word)
  if (isNamed) process.argv.splice(2, 1)
  const program = isNamed ? programs[word] : 'cli/barograph'
  const file = isCheckout ? join(root, `${program}.ts`) : join(root, 'dist', `${program}.js`)
  return import(pathToFileURL(file).href)
}

if (isOldNode()) {
  process.stderr.write(`${nodeSentence()}\n`)
  process.exitCode = 1
} else {
  // What fails ends the process with its stack, as it would without us.
  void load()
}
