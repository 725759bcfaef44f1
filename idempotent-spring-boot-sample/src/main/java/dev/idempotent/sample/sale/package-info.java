/**
 * The flash sale over HTTP: opening it, reserving, ordering, and refusing early.
 */
@NullMarked
package dev.idempotent.sample.sale;

import org.jspecify.annotations.NullMarked;
