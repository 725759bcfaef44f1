package dev.idempotent.sample.owner;

import java.time.Instant;

/**
 * Something that has happened to an owner.
 *
 * @param number its number, from 1
 * @param pid the process
 * @param checkout how the key of the checkout begins that it was given, or an empty text
 * @param what what has happened, such as {@code HALTS}
 * @param detail the moment or the status, or an empty text
 * @param at when
 */
record OwnerEvent(long number, long pid, String checkout, String what, String detail, Instant at) {

}
