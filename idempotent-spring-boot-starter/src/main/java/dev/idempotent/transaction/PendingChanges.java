package dev.idempotent.transaction;

import java.util.Collection;
import java.util.Set;
import java.util.stream.Collectors;

import org.hibernate.FlushMode;
import org.hibernate.engine.spi.SessionImplementor;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.support.DataAccessUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The changes that a transaction has not written yet, such as changes of JPA entities.
 */
public final class PendingChanges {

	private static final Logger logger = LoggerFactory.getLogger(PendingChanges.class);

	private static final boolean HIBERNATE = isPresent("org.hibernate.engine.spi.SessionImplementor")
			&& isPresent("org.springframework.orm.jpa.EntityManagerHolder");

	private final @Nullable TransactionStatus transaction;

	private final Set<Object> sessions;

	private PendingChanges(@Nullable TransactionStatus transaction, Set<Object> sessions) {
		this.transaction = transaction;
		this.sessions = sessions;
	}

	/**
	 * Returns the sessions in transactions of the calling thread.
	 * @return what identifies them
	 */
	public static Set<Object> sessions() {
		return HIBERNATE ? HibernateSessions.inTransactions() : Set.of();
	}

	/**
	 * Returns the changes of a transaction that has just begun, or was joined.
	 * @param transaction the transaction
	 * @param outer the sessions that were in transactions before; one of them belongs to
	 * a transaction that was joined
	 * @return its changes
	 */
	public static PendingChanges of(TransactionExecution transaction, Set<Object> outer) {
		Set<Object> own = HIBERNATE ? sessions().stream()
			.filter((session) -> !transaction.isNewTransaction() || !outer.contains(session))
			.collect(Collectors.toUnmodifiableSet()) : Set.of();
		return new PendingChanges((transaction instanceof TransactionStatus status) ? status : null, own);
	}

	/**
	 * Returns the changes of the sessions in transactions of the calling thread, whose
	 * begin was not observed.
	 * @return the changes
	 */
	public static PendingChanges ofThread() {
		return new PendingChanges(null, sessions());
	}

	/**
	 * Returns the changes of a transaction that cannot be flushed.
	 * @return those that are not written before the commit
	 */
	public static PendingChanges unknown() {
		return new PendingChanges(null, Set.of());
	}

	/**
	 * Writes the changes before the commit, unless the application flushes them manually.
	 */
	public void flush() {
		if (HIBERNATE && !HibernateSessions.allowFlush(this.sessions)) {
			return;
		}
		if (this.transaction != null) {
			this.transaction.flush();
		}
		else if (HIBERNATE) {
			HibernateSessions.flush(this.sessions);
		}
	}

	/**
	 * Writes the changes unless a flush is in progress, which only Hibernate reports.
	 */
	public void flushUnlessFlushing() {
		if (HIBERNATE) {
			flush();
		}
	}

	/**
	 * Writes the changes if a value is an entity of them, or a collection of such, so
	 * that it has what the database generates. Only Hibernate tells.
	 * @param value what is about to be written as JSON
	 */
	public void flushFor(@Nullable Object value) {
		if (HIBERNATE && value != null && HibernateSessions.contain(this.sessions, value)) {
			flush();
		}
	}

	/**
	 * Rolls back what is still active after the end of the transaction.
	 */
	void discard() {
		if (HIBERNATE) {
			HibernateSessions.rollBack(this.sessions);
		}
	}

	private static boolean isPresent(String name) {
		return ClassUtils.isPresent(name, PendingChanges.class.getClassLoader());
	}

	/**
	 * Loaded only if Hibernate is present.
	 */
	private static final class HibernateSessions {

		/**
		 * The holders of the sessions in a transaction, which may be an outer one on
		 * another database.
		 */
		static Set<Object> inTransactions() {
			return TransactionSynchronizationManager.getResourceMap()
				.values()
				.stream()
				.filter((resource) -> resource instanceof EntityManagerHolder holder
						&& holder.isSynchronizedWithTransaction())
				.collect(Collectors.toUnmodifiableSet());
		}

		static void flush(Set<Object> holders) {
			try {
				holders.forEach((holder) -> ((EntityManagerHolder) holder).getEntityManager().flush());
			}
			catch (RuntimeException ex) {
				throw DataAccessUtils.translateIfNecessary(ex,
						EntityManagerFactoryUtils::convertJpaAccessExceptionIfPossible);
			}
		}

		static void rollBack(Set<Object> holders) {
			for (Object resource : holders) {
				try {
					if (resource instanceof EntityManagerHolder holder
							&& holder.getEntityManager().getTransaction().isActive()) {
						holder.getEntityManager().getTransaction().rollback();
					}
				}
				catch (RuntimeException ex) {
					logger.debug("A session could not be rolled back", ex);
				}
			}
		}

		static boolean contain(Set<Object> holders, Object value) {
			return (value instanceof Collection<?> all)
					? all.stream().anyMatch((each) -> each != null && contain(holders, each))
					: holders.stream()
						.anyMatch((resource) -> resource instanceof EntityManagerHolder holder
								&& holder.getEntityManager().getDelegate() instanceof SessionImplementor session
								&& session.getPersistenceContext().getEntry(value) != null);
		}

		/**
		 * Not while a session is flushing, nor if the application flushes it manually.
		 */
		static boolean allowFlush(Set<Object> holders) {
			return holders.stream()
				.allMatch((resource) -> !(resource instanceof EntityManagerHolder holder)
						|| !(holder.getEntityManager().getDelegate() instanceof SessionImplementor session)
						|| (session.getHibernateFlushMode() != FlushMode.MANUAL
								&& !session.getPersistenceContext().isFlushing()));
		}

	}

}
