package dev.idempotent.idempotency.web;

/**
 * A request header of an operation.
 *
 * @param name its name
 * @param required whether a request without it is refused
 * @param maxLength the most characters that it can have; at least one
 * @param text what it means
 */
public record RequestHeaderDescription(String name, boolean required, int maxLength, String text) {

}
