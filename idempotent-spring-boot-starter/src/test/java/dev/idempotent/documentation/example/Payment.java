package dev.idempotent.documentation.example;

record Payment(String booking, int amount) {
}
