/** The MQTT listener by itself, with a journal that does as a test says. */

import './conformance.ts'
import './decoded-listener.ts'
import './listener.ts'
import './session.ts'
import './version-5.ts'
