package dev.idempotent.autoconfigure.idempotency;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.IdempotencyTransactionSource;
import dev.idempotent.idempotency.operation.OperationSettings.OperationSummary;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Logs one line after startup: how many handlers and methods run under which guarantee,
 * and where their keys are. At {@code DEBUG}, one more line for each of them. A warning
 * names those that have the weaker guarantee only by default.
 */
final class StartupReport implements ApplicationListener<ContextRefreshedEvent> {

	private static final Logger logger = LoggerFactory.getLogger(StartupReport.class);

	private final ApplicationContext context;

	private final IdempotencyEngine engine;

	private final boolean unspecified;

	private final List<String> requiredFor = new ArrayList<>();

	private final List<OperationSummary> handlers = new ArrayList<>();

	private final List<OperationSummary> methods = new ArrayList<>();

	/**
	 * Creates a report.
	 * @param context the application
	 * @param engine claims the keys
	 * @param unspecified whether the application has not set a default guarantee
	 */
	StartupReport(ApplicationContext context, IdempotencyEngine engine, boolean unspecified) {
		this.context = context;
		this.engine = engine;
		this.unspecified = unspecified;
	}

	void addHandlers(List<OperationSummary> found, List<String> requiredKeys) {
		this.handlers.addAll(found);
		this.requiredFor.addAll(requiredKeys);
	}

	void addMethods(List<OperationSummary> found) {
		this.methods.addAll(found);
	}

	/**
	 * The names of the operations that are part of their keys.
	 * @return empty if the application has no operation at all
	 */
	Optional<Set<String>> operationNames() {
		if (this.handlers.isEmpty() && this.methods.isEmpty() && this.requiredFor.isEmpty()) {
			return Optional.empty();
		}
		return Optional.of(operations().map(OperationSummary::keyName)
			.flatMap(Stream::ofNullable)
			.collect(Collectors.toCollection(TreeSet::new)));
	}

	boolean usesTransactions() {
		return operations().anyMatch((operation) -> operation.guarantee() == Guarantee.TRANSACTION);
	}

	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		// Child contexts publish the event here, too.
		if (event.getApplicationContext() != this.context) {
			return;
		}
		logger.info("Idempotency: {}", describe());
		if (this.unspecified) {
			warnOfLeases();
		}
		if (logger.isDebugEnabled()) {
			operations().map(OperationSummary::description)
				.sorted()
				.forEach((operation) -> logger.debug("Idempotency: {}", operation));
		}
	}

	private Stream<OperationSummary> operations() {
		return Stream.concat(this.handlers.stream(), this.methods.stream());
	}

	private void warnOfLeases() {
		String operations = Stream
			.concat(operations().filter(OperationSummary::byDefault).map(OperationSummary::method).sorted(),
					this.requiredFor.stream().map((rule) -> "'" + rule + "' (idempotent.web.required-for)"))
			.collect(Collectors.joining(", "));
		if (!operations.isEmpty() && hasTransactions()) {
			logger.warn("Idempotency: under Guarantee.LEASE by default, although transactions are available: {}. "
					+ "Their work is done twice if the process dies after its commit, or if the store loses data. "
					+ "Choose with @Idempotent(guarantee = ...), or with idempotent.guarantee for all of them",
					operations);
		}
	}

	private String describe() {
		String stored = Stream.of(Guarantee.TRANSACTION, Guarantee.LEASE)
			.filter((guarantee) -> count(this.handlers, guarantee) + count(this.methods, guarantee) > 0)
			.map((guarantee) -> "%s under %s (%s)".formatted(operations(guarantee), guarantee, place(guarantee)))
			.collect(Collectors.joining(", "));
		return !stored.isEmpty() ? stored : "no annotated handlers or methods (" + this.engine.storeName() + ")";
	}

	private String operations(Guarantee guarantee) {
		return Stream
			.of(counted(count(this.handlers, guarantee), "handler"), counted(count(this.methods, guarantee), "method"))
			.filter((text) -> !text.isEmpty())
			.collect(Collectors.joining(" and "));
	}

	private String place(Guarantee guarantee) {
		String store = this.engine.storeName();
		if (guarantee == Guarantee.LEASE) {
			return "keys in " + store;
		}
		if (!hasTransactions()) {
			return "keys in " + store + ", without a database transaction";
		}
		return this.engine.storesInDatabase() ? "records in the database"
				: "records in the database, " + store + " in front";
	}

	private boolean hasTransactions() {
		IdempotencyTransactionSource source = this.context.getBeanProvider(IdempotencyTransactionSource.class)
			.getIfAvailable();
		return source != null && source.isTransactional();
	}

	private static long count(List<OperationSummary> operations, Guarantee guarantee) {
		return operations.stream().filter((operation) -> operation.guarantee() == guarantee).count();
	}

	private static String counted(long number, String noun) {
		return (number == 0) ? "" : number + " " + noun + ((number == 1) ? "" : "s");
	}

}
