/**
 * Owners of checkouts that can crash without taking the page with them: child JVMs on the
 * same servers, one of which is kept ready once the first was needed.
 */
@NullMarked
package dev.idempotent.sample.owner;

import org.jspecify.annotations.NullMarked;
