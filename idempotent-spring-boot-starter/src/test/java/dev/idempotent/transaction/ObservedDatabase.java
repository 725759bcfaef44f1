package dev.idempotent.transaction;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import dev.idempotent.testing.LostCommitReplies;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;

/**
 * A database with a table for the rows of transactions, which loses sessions and replies
 * to commits if it is asked to.
 */
final class ObservedDatabase implements AutoCloseable {

	private final JdbcTemplate observer;

	private final String session;

	private final String kill;

	private final AtomicReference<@Nullable Runnable> afterCommit = new AtomicReference<>();

	private final AtomicReference<@Nullable AtomicReference<Connection>> last = new AtomicReference<>();

	private final Set<AtomicReference<Connection>> open = ConcurrentHashMap.newKeySet();

	private final DataSource real;

	private final DataSource dataSource;

	private final LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();

	/**
	 * Creates the table.
	 * @param real provides the connections of transactions
	 * @param observer provides others, on which each statement is committed
	 * @param session asks for the number of the own session
	 * @param kill ends a session, with a place for its number
	 */
	ObservedDatabase(DataSource real, DataSource observer, String session, String kill) {
		this.real = real;
		this.observer = new JdbcTemplate(observer);
		this.session = session;
		this.kill = kill;
		this.dataSource = new LostCommitReplies(new DelegatingDataSource(real) {

			@Override
			public Connection getConnection() throws SQLException {
				return failover(real);
			}

		}, this::losesReply);
		this.observer.execute("drop table if exists observed_row");
		this.observer.execute("create table observed_row (work varchar(50), n int, primary key (work, n))");
		this.factory.setDataSource(this.dataSource);
		this.factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
		this.factory.setPersistenceUnitName("observed");
		this.factory.setManagedTypes(PersistenceManagedTypes.of(ObservedEntity.class.getName()));
		this.factory.afterPropertiesSet();
	}

	private boolean losesReply() {
		Runnable then = this.afterCommit.getAndSet(null);
		if (then == null) {
			return false;
		}
		then.run();
		return true;
	}

	/**
	 * Hands out a connection that can connect again.
	 */
	private Connection failover(DataSource real) throws SQLException {
		AtomicReference<Connection> session = new AtomicReference<>(real.getConnection());
		this.open.add(session);
		return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
					switch (method.getName()) {
						case "commit" -> this.last.set(session);
						case "close" -> this.open.remove(session);
						default -> {
						}
					}
					try {
						return method.invoke(session.get(), arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	/**
	 * Gives the connection of the last commit another session.
	 */
	void connectAgain() {
		AtomicReference<Connection> session = Objects.requireNonNull(this.last.getAndSet(null));
		try {
			Connection next = this.real.getConnection();
			next.setAutoCommit(session.get().getAutoCommit());
			session.getAndSet(next).close();
		}
		catch (SQLException ex) {
			throw new IllegalStateException("There is no other session", ex);
		}
	}

	/**
	 * Ends the session of the last commit, and its connection.
	 * @param number the number of the session
	 */
	void disconnect(long number) {
		AtomicReference<Connection> session = Objects.requireNonNull(this.last.getAndSet(null));
		kill(number);
		try {
			session.get().abort(Runnable::run);
		}
		catch (SQLException ex) {
			throw new IllegalStateException("The connection cannot be aborted", ex);
		}
	}

	/**
	 * How many connections were not given back.
	 */
	int open() {
		return this.open.size();
	}

	/**
	 * Gives the connections back that were not.
	 */
	void closeOpen() {
		for (AtomicReference<Connection> each : List.copyOf(this.open)) {
			this.open.remove(each);
			JdbcUtils.closeConnection(each.get());
		}
	}

	DataSource dataSource() {
		return this.dataSource;
	}

	EntityManagerFactory factory() {
		return Objects.requireNonNull(this.factory.getObject());
	}

	/**
	 * What another connection sees.
	 */
	JdbcTemplate observer() {
		return this.observer;
	}

	int rows(String work) {
		Integer count = this.observer.queryForObject("select count(*) from observed_row where work = ?", Integer.class,
				work);
		return Objects.requireNonNull(count);
	}

	/**
	 * The number of the session of the calling thread's transaction.
	 */
	long session(JdbcTemplate transaction) {
		return Objects.requireNonNull(transaction.queryForObject(this.session, Long.class));
	}

	void kill(long session) {
		this.observer.execute(this.kill.formatted(session));
	}

	/**
	 * Loses the reply to the next commit.
	 * @param then what to do after that commit
	 */
	void loseReply(Runnable then) {
		this.afterCommit.set(then);
	}

	@Override
	public void close() {
		this.factory.destroy();
	}

	/**
	 * A row that JPA inserts when it flushes.
	 */
	@Entity
	@Table(name = "observed_row")
	static class ObservedEntity {

		@Id
		@SuppressWarnings("NullAway.Init")
		private String work;

		private int n;

		protected ObservedEntity() {
		}

		ObservedEntity(String work, int n) {
			this.work = work;
			this.n = n;
		}

		int n() {
			return this.n;
		}

	}

}
