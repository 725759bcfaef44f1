/**
 * Limited stock: PostgreSQL decides about each unit, Redis decides only who may try.
 */
@NullMarked
package dev.idempotent.sample.stock;

import org.jspecify.annotations.NullMarked;
