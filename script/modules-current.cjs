/**
 * Ends with 0 when node_modules holds what package-lock.json names and its install scripts have run, else with 1; then it
 * takes `npm ci`. In plain JavaScript for the Node of the system, however old.
 */

'use strict'

const { existsSync, readFileSync } = require('node:fs')

function packagesIn(lockFile) {
  if (!existsSync(lockFile)) return {}
  return JSON.parse(readFileSync(lockFile, 'utf8')).packages
}

/** What npm leaves out may be for other systems; of the rest it says for which it is. */
function isNeeded({ optional, os, cpu, libc }) {
  return !optional || (!libc && [os, cpu].every(Boolean) && os.includes(process.platform) && cpu.includes(process.arch))
}

function isCurrent() {
  const wanted = packagesIn('package-lock.json')
  // npm writes down there what it has installed.
  const found = packagesIn('node_modules/.package-lock.json')
  const differs = path => found[path].integrity !== wanted[path]?.integrity
  const lacks = path => path !== '' && !found[path] && isNeeded(wanted[path])
  if (Object.keys(found).some(differs) || Object.keys(wanted).some(lacks)) return false
  return existsSync('node_modules/node/bin/node')
}

process.exitCode = isCurrent() ? 0 : 1
