package dev.idempotent.saga.engine;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import dev.idempotent.saga.StepRefusedException;
import org.jspecify.annotations.Nullable;

/**
 * Reads from the exceptions of actions and undos what happened to their calls. An
 * exception of an unknown protocol says nothing. Describes exceptions for operators.
 */
public class FailureClassifier {

	private static final int LONGEST_MESSAGE = 200;

	/**
	 * Longer than a message, so that none is cut within a secret.
	 */
	private static final int LONGEST_READ = 1000;

	/**
	 * Causes can form a circle.
	 */
	private static final int DEEPEST = 20;

	/**
	 * What may be a secret or personal: URLs, e-mail addresses, long numbers with blanks
	 * or dashes, and long words with digits, such as keys, tokens and UUIDs.
	 */
	private static final Pattern SECRET = Pattern
		.compile("\\S+://\\S+|\\S+@\\S+|(?<![\\w.])\\+?\\d(?:[ -]?\\d){6,}(?!\\w)"
				+ "|(?=[A-Za-z_+/=-]{0,200}\\d)[A-Za-z0-9_+/=-]{16,}");

	private static final String MASK = "***";

	/**
	 * They check a condition of their caller.
	 */
	private static final Set<String> CHECKS = Set.of("java.util.Objects", "org.springframework.util.Assert");

	/**
	 * Its messages say how the method of a saga uses its steps wrongly.
	 */
	private static final String ENGINE = FailureClassifier.class.getPackageName() + ".";

	private final List<String> packages;

	/**
	 * Creates a classifier that knows no package of the application.
	 */
	public FailureClassifier() {
		this(List.of());
	}

	/**
	 * Creates a classifier.
	 * @param packages the packages of the application, with all packages below them: the
	 * messages of its exceptions are described, messages of libraries are not
	 */
	public FailureClassifier(Collection<String> packages) {
		this.packages = packages.stream().map((name) -> name + ".").toList();
	}

	/**
	 * Returns the status of the response among the causes of an exception.
	 * @param failure the exception
	 * @return the HTTP status, or {@code null} if there is no response
	 */
	public @Nullable Integer statusOf(Throwable failure) {
		return null;
	}

	/**
	 * Returns whether an exception comes from a call to another service.
	 * @param failure the exception
	 * @return whether a call was made, or tried
	 */
	public boolean isOfCall(Throwable failure) {
		return false;
	}

	/**
	 * Returns whether the clients of the application observe the calls to the services of
	 * steps, and send keys with them.
	 * @return whether a call that is not observed must not be made
	 */
	public boolean requiresObservedCalls() {
		return false;
	}

	/**
	 * Describes an exception for operators: the text of a refusal; otherwise the type of
	 * the exception, and the message of the first one of the application among it and its
	 * causes. Messages of libraries contain bodies, rows and URLs.
	 * @param failure the exception
	 * @return the description
	 */
	public String describe(Throwable failure) {
		String reason = reasonOf(failure);
		if (!reason.equals(failure.getClass().getName())) {
			return reason;
		}
		return Stream.iterate(failure, (each) -> each != null, Throwable::getCause)
			.limit(DEEPEST)
			.filter(this::isOfApplication)
			.map(FailureClassifier::messageOf)
			.filter((message) -> !message.isEmpty())
			.findFirst()
			.map((message) -> reason + ": " + message)
			.orElse(reason);
	}

	/**
	 * Returns whether code of the application or the engine of sagas has thrown an
	 * exception, or the application has declared it.
	 */
	private boolean isOfApplication(Throwable failure) {
		return isOfApplication(failure.getClass().getName()) || Stream.of(failure.getStackTrace())
			.map(StackTraceElement::getClassName)
			.filter((name) -> !CHECKS.contains(name))
			.findFirst()
			.filter((thrower) -> thrower.startsWith(ENGINE) || isOfApplication(thrower))
			.isPresent();
	}

	private boolean isOfApplication(String type) {
		return this.packages.stream().anyMatch(type::startsWith);
	}

	/**
	 * Returns the first line of a message without what may be a secret. A failure whose
	 * {@code getMessage()} throws must not prevent its own handling.
	 */
	private static String messageOf(Throwable failure) {
		try {
			String message = failure.getMessage();
			return (message != null) ? masked(message) : "";
		}
		catch (RuntimeException | Error ex) {
			return "";
		}
	}

	/**
	 * Returns the first line of a text without what may be a secret or personal, for
	 * operators.
	 * @param text any text
	 * @return at most 200 characters
	 */
	protected static String masked(String text) {
		String line = text.strip().lines().findFirst().orElse("");
		String masked = SECRET.matcher(line.substring(0, Math.min(line.length(), LONGEST_READ))).replaceAll(MASK);
		return masked.substring(0, Math.min(masked.length(), LONGEST_MESSAGE));
	}

	/**
	 * Returns the text of a refusal, otherwise the type of the exception.
	 */
	static String reasonOf(Throwable failure) {
		String text = (failure instanceof StepRefusedException) ? failure.getMessage() : null;
		return (text != null && !text.isBlank()) ? text : failure.getClass().getName();
	}

}
