/**
 * Encryption of what is stored: responses, results and payloads of events.
 */
@NullMarked
package dev.idempotent.encryption;

import org.jspecify.annotations.NullMarked;
