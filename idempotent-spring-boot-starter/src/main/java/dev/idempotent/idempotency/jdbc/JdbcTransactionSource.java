package dev.idempotent.idempotency.jdbc;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.engine.IdempotencyTransactions;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.IdempotencyTransactionSource;
import dev.idempotent.idempotency.jdbc.JdbcIdempotencyStore.Sweepers;
import dev.idempotent.transaction.OwnTransactions;
import dev.idempotent.transaction.TransactionRequirements;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.util.StringUtils;

/**
 * Provides transactions of the application's transaction managers, with the attributes of
 * the methods' {@code @Transactional}.
 */
public final class JdbcTransactionSource implements IdempotencyTransactionSource, AutoCloseable {

	private static final Set<Integer> NO_TRANSACTION = Set.of(TransactionDefinition.PROPAGATION_NOT_SUPPORTED,
			TransactionDefinition.PROPAGATION_NEVER);

	private static final Set<Integer> OWN_TRANSACTION = Set.of(TransactionDefinition.PROPAGATION_REQUIRES_NEW,
			TransactionDefinition.PROPAGATION_NOT_SUPPORTED, TransactionDefinition.PROPAGATION_NEVER);

	/**
	 * Where a method's transaction manager is named.
	 */
	static final String PLACE = "its @Transactional or in idempotent.jdbc.transaction-manager, or use Guarantee.LEASE";

	/**
	 * The method's own {@code @Transactional} has already begun its transaction.
	 */
	private static final TransactionDefinition JOINING = new DefaultTransactionDefinition(
			TransactionDefinition.PROPAGATION_REQUIRED);

	private final BeanFactory beanFactory;

	private final @Nullable String managerName;

	private final TransactionAttributeSource attributes;

	private final OwnTransactions transactions;

	private final String table;

	private final ClaimQueue queue;

	private final Duration maxRun;

	private final Sweepers sweepers;

	private final Function<DataSource, @Nullable DataSource> unpooled;

	private final Map<DataSource, JdbcIdempotencyStore> stores = new ConcurrentHashMap<>();

	/**
	 * Creates a source.
	 * @param beanFactory contains the transaction managers
	 * @param managerName the manager of methods that do not name one, or {@code null} for
	 * the only or primary one
	 * @param attributes reads {@code @Transactional}
	 * @param transactions own transactions on the data source of managers that do not
	 * expose theirs
	 * @param table the table of the records
	 * @param maxWaiters how many claims may hold a connection while they wait for another
	 * transaction, if no store in front of the database refuses duplicates
	 * @param lockTimeout how long a claim waits for another transaction
	 * @param maxRun how long a run may last, and PostgreSQL keeps its transaction if its
	 * host dies
	 * @param sweepers sweep the databases that are used
	 * @param unpooled provides connections to the database of a pool outside of it, or
	 * {@code null} if there are none
	 */
	public JdbcTransactionSource(BeanFactory beanFactory, @Nullable String managerName,
			TransactionAttributeSource attributes, OwnTransactions transactions, String table, int maxWaiters,
			Duration lockTimeout, Duration maxRun, Sweepers sweepers,
			Function<DataSource, @Nullable DataSource> unpooled) {
		this.beanFactory = beanFactory;
		this.managerName = managerName;
		this.attributes = attributes;
		this.transactions = transactions;
		this.table = table;
		this.queue = new ClaimQueue(maxWaiters, lockTimeout);
		this.maxRun = maxRun;
		this.sweepers = sweepers;
		this.unpooled = unpooled;
	}

	@Override
	public IdempotencyTransactions transactionsOf(Class<?> type, Method method) {
		TransactionAttribute attribute = attributeOf(type, method, OWN_TRANSACTION);
		String described = IdempotentConfigurationException.describe(type, method);
		return transactions(described, attribute, ownDefinition(described, attribute));
	}

	@Override
	public IdempotencyTransactions joiningTransactionsOf(Class<?> type, Method method) {
		return transactions(IdempotentConfigurationException.describe(type, method),
				attributeOf(type, method, NO_TRANSACTION), JOINING);
	}

	@Override
	public IdempotencyTransactions joiningTransactions(String described) {
		return transactions(described, null, JOINING);
	}

	@Override
	public List<IdempotencyStore> records() {
		return List.copyOf(this.stores.values());
	}

	@Override
	public void close() {
		this.stores.values().forEach(JdbcIdempotencyStore::close);
	}

	private @Nullable TransactionAttribute attributeOf(Class<?> type, Method method, Set<Integer> contradictions) {
		TransactionAttribute attribute = this.attributes.getTransactionAttribute(method, type);
		if (attribute != null && attribute.isReadOnly()) {
			throw mistake(IdempotentConfigurationException.describe(type, method),
					"is @Transactional(readOnly = true)");
		}
		if (attribute != null && contradictions.contains(attribute.getPropagationBehavior())) {
			throw mistake(IdempotentConfigurationException.describe(type, method),
					"does not join the transaction around it (propagation)");
		}
		return attribute;
	}

	private IdempotencyTransactions transactions(String described, @Nullable TransactionAttribute attribute,
			TransactionDefinition definition) {
		PlatformTransactionManager manager = managerOf(described, attribute);
		DataSource opened = dataSourceOf(manager);
		JdbcIdempotencyTransactions transactions = new JdbcIdempotencyTransactions(manager, definition, opened,
				this.stores.computeIfAbsent(opened, (found) -> new JdbcIdempotencyStore(this.transactions.on(found),
						this.table, this.unpooled.apply(found))),
				this.queue, this.maxRun, described);
		transactions.verify();
		this.sweepers.sweep(opened);
		return transactions;
	}

	/**
	 * Finds the manager that a method names, the configured one, or the only or primary
	 * one.
	 * @throws IdempotentConfigurationException if there is none, or several of which none
	 * is primary
	 */
	private PlatformTransactionManager managerOf(String described, @Nullable TransactionAttribute attribute) {
		String named = (attribute != null && StringUtils.hasText(attribute.getQualifier())) ? attribute.getQualifier()
				: this.managerName;
		return TransactionRequirements.requireManager(this.beanFactory, named, reason(described), PLACE);
	}

	/**
	 * Why a method needs a transaction manager.
	 */
	static String reason(String described) {
		return "The method " + described + " has Guarantee.TRANSACTION";
	}

	private DataSource dataSourceOf(PlatformTransactionManager manager) {
		return (manager instanceof ResourceTransactionManager resource
				&& resource.getResourceFactory() instanceof DataSource stated) ? stated
						: this.transactions.dataSource();
	}

	private static IdempotentConfigurationException mistake(String described, String mistake) {
		return new IdempotentConfigurationException(reason(described) + ", and " + mistake + ".",
				"Let its own @Transactional join a transaction that writes, leave it out, or use Guarantee.LEASE.");
	}

	/**
	 * A new transaction even within the transaction of an outer filter: the new one has
	 * to commit before the response is sent.
	 */
	private static TransactionDefinition ownDefinition(String described, @Nullable TransactionAttribute attribute) {
		DefaultTransactionDefinition definition = new DefaultTransactionDefinition(
				TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		definition.setName(described);
		if (attribute != null) {
			definition.setIsolationLevel(attribute.getIsolationLevel());
			definition.setTimeout(attribute.getTimeout());
		}
		return definition;
	}

}
