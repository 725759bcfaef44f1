/**
 * What the promises' tables have in common: connections of their own, and names for what
 * databases complain of.
 */
@NullMarked
package dev.idempotent.jdbc;

import org.jspecify.annotations.NullMarked;
