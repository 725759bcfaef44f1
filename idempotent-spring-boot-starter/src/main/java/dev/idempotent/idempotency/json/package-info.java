/**
 * The canonical form of JSON documents: equal for equivalent documents, different for all
 * others.
 */
@NullMarked
package dev.idempotent.idempotency.json;

import org.jspecify.annotations.NullMarked;
