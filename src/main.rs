fn main() -> std::process::ExitCode {
    viva::cli::main()
}
