package dev.idempotent.idempotency.web;

/**
 * A problem that an operation may respond with.
 *
 * @param name the end of its type, such as {@code in-progress}
 * @param status its HTTP status
 * @param title its title
 * @param type its type
 * @param retryable whether the same request can succeed later
 */
public record ProblemDescription(String name, int status, String title, String type, boolean retryable) {

}
