/** Formats of readings and points: accepted and rejected content. */

import './formats/formats.ts'
import './formats/formats-entities.ts'
import './formats/formats-line-protocol.ts'
import './formats/formats-parsers.ts'
import './formats/point-rows.ts'
import './formats/whole-reading.ts'
