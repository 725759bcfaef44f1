package dev.idempotent.idempotency.kafka;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.kafka.PaymentListeners.Payment;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.TopicPartition;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * An application that consumes payments until it dies.
 */
public final class MortalConsumer {

	private MortalConsumer() {
	}

	/**
	 * Lives no longer than who has started it.
	 * @param properties as {@code name=value}
	 */
	public static void main(String[] properties) throws IOException {
		KafkaApplication.start(Listening.class, List.of(properties));
		while (System.in.read() >= 0) {
			// Its end is the end of the parent.
		}
		Runtime.getRuntime().halt(0);
	}

	@Configuration(proxyBeanMethods = false)
	static class Listening {

		@Bean
		Death death(@Value("${death.instant:}") String instant, @Value("${death.times:0}") int times) {
			return new Death(instant, times);
		}

		@Bean
		Book book(DataSource dataSource) {
			return new Book(dataSource);
		}

		@Bean
		Payments payments(Book book, Death death) {
			return new Payments(book, death);
		}

		@Bean
		RecordInterceptor<Object, Object> interceptor(Book book, Death death) {
			return new Witness(book, death);
		}

	}

	static class Payments {

		private final Book book;

		private final Death death;

		Payments(Book book, Death death) {
			this.book = book;
			this.death = death;
		}

		// Partitions by hand: a group would wait for its dead member.
		@KafkaListener(groupId = "${kills.topic}",
				topicPartitions = @TopicPartition(topic = "${kills.topic}", partitions = "0-1"))
		@Transactional
		@Idempotent(key = "#payment.id", name = "payments.pay")
		public void pay(Payment payment) {
			this.book.effect(payment.id());
			this.death.at(Death.At.AFTER_THE_EFFECT);
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
				@Override
				public void beforeCommit(boolean readOnly) {
					Payments.this.death.at(Death.At.BEFORE_THE_COMMIT);
				}

				@Override
				public void afterCommit() {
					Payments.this.death.at(Death.At.AFTER_THE_COMMIT);
				}
			});
		}

	}

	/**
	 * Sees each delivery.
	 *
	 * @param book where it is noted
	 * @param death what may come then
	 */
	record Witness(Book book, Death death) implements RecordInterceptor<Object, Object> {

		@Override
		public ConsumerRecord<Object, Object> intercept(ConsumerRecord<Object, Object> record,
				Consumer<Object, Object> consumer) {
			this.book.delivery(String.valueOf(record.key()), false);
			return record;
		}

		@Override
		public void success(ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
			this.death.at(Death.At.BEFORE_THE_ACKNOWLEDGEMENT);
		}

		@Override
		public void failure(ConsumerRecord<Object, Object> record, Exception exception,
				Consumer<Object, Object> consumer) {
			this.book.delivery(String.valueOf(record.key()), true);
		}

	}

	/**
	 * Ends this JVM, as {@code kill -9} would, when it comes to an instant for the n-th
	 * time.
	 */
	static class Death {

		/**
		 * The exit status of this end.
		 */
		static final int STATUS = 86;

		private final String instant;

		private final AtomicInteger rest;

		/**
		 * Determines a death.
		 * @param instant the name of an {@link At}, or nothing for a long life
		 * @param times at which time
		 */
		Death(String instant, int times) {
			this.instant = instant;
			this.rest = new AtomicInteger(times);
		}

		void at(At now) {
			if (now.name().equals(this.instant) && this.rest.decrementAndGet() == 0) {
				Runtime.getRuntime().halt(STATUS);
			}
		}

		/**
		 * Where a consumer can die.
		 */
		enum At {

			AFTER_THE_EFFECT, BEFORE_THE_COMMIT, AFTER_THE_COMMIT, BEFORE_THE_ACKNOWLEDGEMENT

		}

	}

	/**
	 * What consumers have done, and what was delivered to them, over all their lives.
	 */
	static class Book {

		private final JdbcClient database;

		Book(DataSource dataSource) {
			this.database = JdbcClient.create(dataSource);
		}

		/**
		 * Opens an empty book.
		 */
		void open() {
			this.database.sql("drop table if exists kill_effect, kill_delivery").update();
			this.database.sql("create table kill_effect (event varchar(100))").update();
			this.database.sql("create table kill_delivery (event varchar(100), refused boolean)").update();
		}

		void effect(String event) {
			this.database.sql("insert into kill_effect values (?)").param(event).update();
		}

		/**
		 * Notes a delivery, or that it was refused.
		 */
		void delivery(String event, boolean refused) {
			this.database.sql("insert into kill_delivery values (?, ?)").param(event).param(refused).update();
		}

		/**
		 * How many events had an effect.
		 */
		int events() {
			return count("select count(distinct event) from kill_effect");
		}

		/**
		 * How many events had more than one.
		 */
		int doubled() {
			return count("select count(*) from (select event from kill_effect group by event having count(*) > 1) d");
		}

		int deliveries() {
			return count("select count(*) from kill_delivery where not refused");
		}

		int refusals() {
			return count("select count(*) from kill_delivery where refused");
		}

		private int count(String query) {
			return this.database.sql(query).query(Integer.class).single();
		}

	}

}
